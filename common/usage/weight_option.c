/* weight_option.c - see weight_option.h. */
#include "usage/weight_option.h"

#define NAME "--weight"

int weight_option_word(const char *word, void *options, struct err *e)
{
    struct ratio ignored;
    (void)options;
    return ratio_parse(word, &ignored, NAME, e);
}

int weight_option_check(const struct option_placed *w, bool named, int n_files, struct err *e)
{
    const struct option_place *last = w->n ? &w->at[w->n - 1] : NULL;
    return last && named && last->n_files >= n_files
               ? err_set(e, EX_USAGE, NAME "=%s: no FILE follows; a weight is that of the FILEs after it", last->text)
               : 0;
}

struct ratio weight_option_of(const struct option_placed *w, int file)
{
    struct ratio weight = {1, 1};
    struct err ignored;
    const char *text = option_placed_of(w, file);
    if (text)
        ratio_parse(text, &weight, NAME, &ignored); /* weight_option_word has checked it */
    return weight;
}
