/* report_lists.c - which tokens the tables of a report list, and in which order. */
#include "bpe/report.h"

#include "unicode/utf8.h"

#include <string.h>

/* ---- Which ---- */

static bool occurs(const struct report_vocabulary *v, uint32_t id)
{
    return v->count[id] > 0;
}

static bool is_used(const struct report_vocabulary *v, uint32_t id)
{
    return v->count[id] && report_token_removable(v, id);
}

static bool is_merged(const struct report_vocabulary *v, uint32_t id)
{
    return v->made[id] && report_token_removable(v, id);
}

static bool is_only_part(const struct report_vocabulary *v, uint32_t id)
{
    return !v->count[id] && v->made[id] && report_token_removable(v, id);
}

static bool is_undecodable(const struct report_vocabulary *v, uint32_t id)
{
    return v->reach[id] == REACH_UNDECODABLE;
}

/* Whether a token has a whole character and a part of another one. */
static bool crosses(const struct report_vocabulary *v, uint32_t id)
{
    const struct str t = report_token_text(v, id);
    bool whole = false, part = false, cut;
    if (!is_undecodable(v, id))
        return false;
    for (size_t i = 0, n; i < t.len; i += n) {
        n = utf8_valid_len(t.p + i, t.len - i, &cut);
        whole = whole || n;
        part = part || !n;
        n = n ? n : utf8_bad_len(t.p + i, t.len - i);
    }
    return whole && part;
}

static bool is_number(const struct report_vocabulary *v, uint32_t id)
{
    return v->kind[id] == KIND_NUMBER && report_token_text(v, id).len > 1;
}

static bool is_space(const struct report_vocabulary *v, uint32_t id)
{
    return v->kind[id] == KIND_SPACE && v->reach[id] != REACH_SPECIAL;
}

static bool is_ordinary(const struct report_vocabulary *v, uint32_t id)
{
    return v->reach[id] != REACH_SPECIAL;
}

/* ---- In which order ---- */

static bool by_id(const struct report_vocabulary *v, uint32_t a, uint32_t b)
{
    (void)v;
    return a < b;
}

static bool most_frequent(const struct report_vocabulary *v, uint32_t a, uint32_t b)
{
    return v->count[a] == v->count[b] ? a < b : v->count[a] > v->count[b];
}

static bool by_id_down(const struct report_vocabulary *v, uint32_t a, uint32_t b)
{
    (void)v;
    return a > b;
}

/* Of equal ones, the last learned first. */
static bool least_frequent(const struct report_vocabulary *v, uint32_t a, uint32_t b)
{
    return v->count[a] == v->count[b] ? a > b : v->count[a] < v->count[b];
}

static bool least_made(const struct report_vocabulary *v, uint32_t a, uint32_t b)
{
    return v->made[a] == v->made[b] ? a > b : v->made[a] < v->made[b];
}

static bool most_made(const struct report_vocabulary *v, uint32_t a, uint32_t b)
{
    return v->made[a] == v->made[b] ? a < b : v->made[a] > v->made[b];
}

static bool longest(const struct report_vocabulary *v, uint32_t a, uint32_t b)
{
    const size_t x = report_token_text(v, a).len, y = report_token_text(v, b).len;
    return x == y ? a < b : x > y;
}

/* ---- Lists ---- */

const struct report_list_of report_lists[REPORT_LISTS] = {
    [LIST_UNREACHABLE] = {"unreachable", "Unreachable", "Their own text is encoded to other tokens.",
                          report_token_unreachable, by_id},
    [LIST_WASTE] = {"waste", "Waste",
                    "Never merged in these sources, not even as a part of another token; the last learned first. More "
                    "text would need some of them.",
                    report_token_waste, by_id_down},
    [LIST_LEAST_MERGED] =
        {"least_merged", "Merged least",
         "Of those that are merged at all. Without its merge, each use of a token is about one token more.", is_merged,
         least_made},
    [LIST_LEAST] = {"least_used", "Used least", "Of those that occur; the last learned first.", is_used,
                    least_frequent},
    [LIST_MOST] = {"most_used", "Used most", "", occurs, most_frequent},
    [LIST_ONLY_PARTS] = {"only_parts", "Only parts of other tokens",
                         "They never occur themselves, but merges need them; those needed most first.", is_only_part,
                         most_made},
    [LIST_UNDECODABLE] = {"undecodable", "Parts of characters",
                          "Their bytes are not whole characters; used most first.", is_undecodable, most_frequent},
    [LIST_CROSSING] = {"crossing", "Across characters", "They have a whole character and a part of another.", crosses,
                       most_frequent},
    [LIST_NUMBERS] = {"numbers", "Numbers", "Of two bytes or more; used most first.", is_number, most_frequent},
    [LIST_SPACES] = {"white_space", "White space", "The longest first.", is_space, longest},
    [LIST_LONGEST] = {"longest", "Longest", "", is_ordinary, longest},
};

void report_list_tokens(const struct report_vocabulary *v, enum report_list list, struct report_tokens *t)
{
    const struct report_list_of *l = &report_lists[list];
    t->n = t->n_all = 0;
    for (uint32_t id = 0; id < v->model->n_ids; id++) {
        if (!v->model->token[id].p || !l->has(v, id))
            continue;
        t->n_all++;
        size_t at = t->n;
        if (at == REPORT_LISTED && !l->before(v, id, t->id[at - 1]))
            continue;
        while (at && l->before(v, id, t->id[at - 1]))
            at--;
        t->n += t->n < REPORT_LISTED;
        memmove(&t->id[at + 1], &t->id[at], (t->n - at - 1) * sizeof t->id[0]);
        t->id[at] = id;
    }
}
