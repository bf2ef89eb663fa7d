/* token_origin.c - whether ids belong together: of one run, encoded in one way, from sources that did not change. See
 * token_store_internal.h. */
#include "base/sys/bytes.h"
#include "shard/store/token_store_internal.h"

#include <string.h>

int token_store_check_run(struct token_store *s, const unsigned char *run, struct err *e)
{
    static const unsigned char none[ID_LEN];
    if (memcmp(run, none, ID_LEN) == 0)
        return err_set(e, EX_DATAERR, "ids without the id of a run of bpe-chunk");
    if (!s->has_run) {
        memcpy(s->run, run, ID_LEN);
        s->has_run = true;
    }
    if (memcmp(s->run, run, ID_LEN) == 0)
        return 0;
    char have[2 * ID_LEN + 1], other[2 * ID_LEN + 1];
    hex_put(have, s->run, ID_LEN);
    hex_put(other, run, ID_LEN);
    return err_set(e, EX_DATAERR,
                   "ids of another run of bpe-chunk (%s) than the ids before (%s); give each run its own directory",
                   other, have);
}

static const char *difference(const struct commit_encoding *a, const struct commit_encoding *b)
{
    return a->model != b->model                 ? "the model"
           : a->n_ids != b->n_ids               ? "the size of the vocabulary"
           : !str_equal(a->pattern, b->pattern) ? "the pattern"
           : a->eot != b->eot                   ? "--eot"
           : a->separator != b->separator       ? "the token that separates documents"
           : a->special != b->special           ? "the handling of special tokens in text"
                                                : "something";
}

int token_store_check_encoding(struct token_store *s, struct str encoding, unsigned width, struct err *e)
{
    struct commit_encoding how;
    if (!encoding.len)
        return err_set(
            e, EX_DATAERR,
            "a batch of ids that does not record how they were made; use one version of bpetools everywhere");
    if (s->width && width && s->width != width)
        return err_set(e, EX_DATAERR, "ids of %u bytes, but those before have %u", width, s->width);
    if (width)
        s->width = width;
    if (str_equal(encoding, buf_str(&s->encoding)))
        return 0;
    if (commit_encoding_get(&how, encoding, e))
        return -1;
    if (s->encoding.len)
        return err_set(e, EX_DATAERR,
                       "ids made with other settings than the ids before (%s differs); they do not belong together",
                       difference(&how, &s->how));
    if (buf_put(&s->encoding, encoding.p, encoding.len, e) || commit_encoding_get(&s->how, buf_str(&s->encoding), e))
        return -1;
    return 0;
}

int token_store_learn_sources(struct token_store *s, struct str sources, struct err *e)
{
    struct cursor c = cursor_over(sources.p, sources.len);
    while (cursor_left(&c)) {
        struct source_facts one;
        if (commit_source_get(&one, &c, e))
            return -1;
        int new = coverage_learn(&s->ledger.coverage, s->run, &one, e);
        if (new < 0 || (new &&commit_source_put(&s->sources, &one, e)))
            return -1;
    }
    return 0;
}

int token_store_check_sources(const struct token_store *s, const struct commit_run *r, struct err *e)
{
    for (size_t i = 0; i < r->n_ranges; i++) {
        struct source_facts from;
        uint64_t size;
        const struct commit_range *x = &r->range[i];
        if (!coverage_source(&s->ledger.coverage, s->run, x->source, &from))
            return err_set(e, EX_DATAERR,
                           "a batch that does not name source %llu; use one version of bpetools everywhere",
                           (unsigned long long)x->source);
        if (coverage_size(&s->ledger.coverage, s->run, x->source, &size) > 0 && x->end > size)
            return err_set(e, EX_DATAERR, "%.*s: the ids reach byte %llu, but it has only %llu bytes",
                           (int)from.name.len, (const char *)from.name.p, (unsigned long long)x->end,
                           (unsigned long long)size);
    }
    return 0;
}
