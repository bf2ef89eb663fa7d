/* learn_fast.c - runs the trainer of common/train/trainer.h as a filter, for comparison with learn_slow and with other
 * programs. Arguments and formats: learn_io.h. */
#include "train/trainer.h"

#include "learn_io.h"

/* Prints each merge: the bytes of its two parts, which follow from earlier merges. */
static void print_merges(const struct merge *m, const struct train_step *steps, size_t n)
{
    struct bytes *token = must(calloc(256 + n, sizeof *token));
    for (size_t i = 0; i < 256; i++) {
        token[i] = (struct bytes){must(malloc(1)), 1};
        token[i].p[0] = (unsigned char)i;
    }
    for (size_t k = 0; k < n; k++) {
        struct bytes left = token[m[k].left], right = token[m[k].right], *made = &token[256 + k];
        *made = (struct bytes){must(malloc(left.len + right.len)), left.len + right.len};
        memcpy(made->p, left.p, left.len);
        memcpy(made->p + left.len, right.p, right.len);
        put_hex(left.p, left.len);
        putchar(' ');
        put_hex(right.p, right.len);
        printf(" %llu %llu\n", (unsigned long long)steps[k].count, (unsigned long long)steps[k].replaced);
    }
    for (size_t i = 0; i < 256 + n; i++)
        free(token[i].p);
    free(token);
}

int main(int argc, char **argv)
{
    struct args a;
    parse_args(argc, argv, &a);
    struct special_token *special = must(calloc(a.n_special + 1, sizeof *special));
    for (size_t i = 0; i < a.n_special; i++)
        special[i].text = (struct str){a.special[i].p, a.special[i].len};
    struct str *veto = must(calloc(a.n_veto + 1, sizeof *veto));
    for (size_t i = 0; i < a.n_veto; i++)
        veto[i] = (struct str){a.veto[i].p, a.veto[i].len};
    struct train_opts o = {
        .tie = !strcmp(a.tie, "hf")         ? TRAIN_HF
               : !strcmp(a.tie, "lex")      ? TRAIN_LEX
               : !strcmp(a.tie, "smallest") ? TRAIN_SMALLEST
               : !strcmp(a.tie, "greatest") ? TRAIN_GREATEST
               : !strcmp(a.tie, "least")    ? TRAIN_LEAST
                                            : TRAIN_ID,
        .vocab_size = (uint32_t)a.vocab_size,
        .min_frequency = a.min_frequency,
        .max_token_len = a.max_token_len,
        .count_once = a.count_once,
        .utf8_boundaries = a.utf8_boundaries,
        .veto = veto,
        .n_veto = a.n_veto,
        .special = special,
        .n_special = a.n_special,
    };
    struct err e = {0};
    struct bytes word;
    uint64_t count;
    struct merge *m = NULL;
    size_t n;
    struct trainer *l = trainer_new(&e);
    while (l && !e.code && read_word(&word, &count)) {
        trainer_add(l, word.p, word.len, count, &e);
        free(word.p);
    }
    if (!e.code && !trainer_run(l, &o, &m, &n, &e))
        print_merges(m, trainer_steps(l), n);
    free(m);
    trainer_free(l);
    free_args(&a);
    free(special);
    free(veto);
    if (e.code)
        fprintf(stderr, "learn_fast: %s\n", e.msg);
    return e.code;
}
