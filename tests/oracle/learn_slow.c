/* learn_slow.c - the slow, obvious trainer of learn_plain.h as a filter. Arguments and formats: learn_io.h. */
#include "learn_plain.h"

int main(int argc, char **argv)
{
    struct args a;
    struct plain t;
    struct bytes word;
    uint64_t count;
    parse_args(argc, argv, &a);
    plain_init(&t, &a);
    while (read_word(&word, &count)) {
        plain_add_word(&t, word.p, word.len, count);
        free(word.p);
    }
    plain_run(&t);
    for (size_t i = 0; i < t.n_merge; i++) {
        struct bytes left = t.token[t.merge[i].left].bytes, right = t.token[t.merge[i].right].bytes;
        put_hex(left.p, left.len);
        putchar(' ');
        put_hex(right.p, right.len);
        printf(" %llu %llu\n", (unsigned long long)t.merge[i].count, (unsigned long long)t.merge[i].replaced);
    }
    plain_free(&t);
    free_args(&a);
    return 0;
}
