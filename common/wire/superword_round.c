/* superword_round.c - see superword_round.h. */
#include "wire/superword_round.h"

#include "base/sys/bytes.h"
#include "wire/payload.h"

#include <string.h>

const char *const superword_words_names[SUPERWORDS_N] = {"pairs", "runs", "live"};

bool superword_is_slack(const unsigned char *p, size_t len)
{
    static const unsigned char ones[] = {0xFF, 0xFF, 0xFF, 0xFF};
    return (len == 3 || len == 5) && memcmp(p, ones, len - 1) == 0;
}

int superword_round_put(struct buf *out, const struct superword_round *r, struct err *e)
{
    return put_varint(out, r->words, e) || put_varint(out, r->width, e) || put_varint(out, r->n_merges, e) ||
                   put_varint(out, r->model, e) || put_varint(out, r->floor, e) || put_varint(out, r->least, e) ||
                   put_varint(out, r->live, e) || put_varint(out, r->text, e)
               ? -1
               : 0;
}

int superword_round_get(struct superword_round *r, struct str encoded, struct err *e)
{
    struct cursor c = cursor_over(encoded.p, encoded.len);
    r->words = (enum superword_words)get_choice(&c, SUPERWORDS_N - 1);
    r->width = get_varint(&c);
    r->n_merges = get_varint(&c);
    r->model = get_varint(&c);
    r->floor = get_varint(&c);
    r->least = get_varint(&c);
    r->live = get_varint(&c);
    r->text = get_varint(&c);
    const bool width = r->width == 2 || r->width == 4, floor = !r->floor == (r->words == SUPERWORDS_PAIRS);
    const bool least =
        r->words == SUPERWORDS_LIVE ? r->least > 0 && r->least <= r->floor : !r->least || r->words == SUPERWORDS_PAIRS;
    return c.bad || cursor_left(&c) || !width || !floor || !least ? payload_damaged(e, "rules") : 0;
}

int superword_round_check_text(const struct superword_round *r, uint64_t text, struct err *e)
{
    return !r->live || r->text == text ? 0
                                       : err_set(e, EX_DATAERR,
                                                 "these are counts of %llu bytes of text, by live pairs of %llu; all "
                                                 "steps must count the same text",
                                                 (unsigned long long)text, (unsigned long long)r->text);
}
