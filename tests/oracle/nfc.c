/* nfc.c - normalizes standard input, which is valid UTF-8, to NFC; for nfc_peers.py and nfc.t. */
#include "unicode/nfc.h"

#include <stdio.h>

int main(void)
{
    struct buf in = {0}, out = {0};
    struct err e = {0};
    size_t got = 1;
    while (got) {
        if (buf_reserve(&in, 1 << 20, &e))
            return 71;
        got = fread(in.p + in.len, 1, 1 << 20, stdin);
        in.len += got;
    }
    if (nfc_put(&out, in.p, in.len, SIZE_MAX, &e) < 0)
        return 71;
    fwrite(out.p, 1, out.len, stdout);
    buf_free(&in);
    buf_free(&out);
    return 0;
}
