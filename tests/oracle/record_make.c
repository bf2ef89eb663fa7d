/* record_make.c - makes records by hand, for tests: reads lines `TYPE HEX` (the payload before byte stuffing) and
 * writes the records, with correct checksums. So a test can make records that no program would write. */
#include "base/sys/buf.h"
#include "wire/record.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit(int c)
{
    return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

int main(void)
{
    struct buf payload = {0}, out = {0};
    struct err e;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        payload.len = 0;
        for (ssize_t i = 2; i + 1 < n && digit(line[i]) >= 0; i += 2) {
            if (buf_put_byte(&payload, (unsigned char)(digit(line[i]) * 16 + digit(line[i + 1])), &e))
                return 1;
        }
        out.len = 0;
        if (record_put(&out, (enum record_type)line[0], payload.p, payload.len, &e) ||
            fwrite(out.p, 1, out.len, stdout) != out.len)
            return 1;
    }
    free(line);
    buf_free(&payload);
    buf_free(&out);
    return fflush(stdout) ? 1 : 0;
}
