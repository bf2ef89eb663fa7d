/* encode_call.c MODEL TEXT - the time of bpe_encode, in microseconds: the minimum of twenty means of 20,000 calls. */
#include "library/bpetools.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMES = 20, CALLS = 20000, ROOM = 1000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    uint32_t ids[ROOM];
    double least = 1e9;
    bpe_tokenizer *t = argc == 3 ? bpe_open(argv[1], NULL, NULL) : NULL;
    if (!t) {
        fprintf(stderr, "encode_call: %s\n", argc == 3 ? bpe_last_error()->message : "give MODEL TEXT");
        return 64;
    }
    const size_t len = strlen(argv[2]);
    for (int i = 0; i < TIMES; i++) {
        double begin = now();
        for (int k = 0; k < CALLS; k++) {
            if (bpe_encode(t, argv[2], len, BPE_SPECIAL_TEXT, ids, ROOM) < 0)
                return 65;
        }
        double mean = (now() - begin) / CALLS;
        least = mean < least ? mean : least;
    }
    printf("%.4f\n", least * 1e6);
    bpe_close(t);
    return 0;
}
