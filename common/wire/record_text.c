/* record_text.c - see record_text.h. */
#include "wire/record_text.h"

#include "base/sys/bytes.h"
#include "pretok/pretoken.h"
#include "unicode/utf8.h"
#include "wire/commit.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/payload.h"
#include "wire/superword_round.h"

#include <string.h>

/* ---- Text ---- */

int record_text_escape(struct buf *out, const unsigned char *p, size_t n, struct err *e)
{
    bool cut;
    for (size_t i = 0; i < n;) {
        size_t valid = p[i] < 0x80 ? 1 : utf8_valid_len(p + i, n - i < 4 ? n - i : 4, &cut);
        bool control = p[i] == 0xC2 && valid && p[i + 1] < 0xA0; /* U+0080 to U+009F, which control terminals */
        if (p[i] >= 0x80 && valid && !control) {
            valid = p[i] < 0xE0 ? 2 : p[i] < 0xF0 ? 3 : 4;
            if (buf_put(out, p + i, valid, e))
                return -1;
            i += valid;
            continue;
        }
        const char *short_form = p[i] == '\n'   ? "\\n"
                                 : p[i] == '\r' ? "\\r"
                                 : p[i] == '\t' ? "\\t"
                                 : p[i] == '\\' ? "\\\\"
                                                : NULL;
        if (short_form                    ? buf_put_str(out, short_form, e)
            : p[i] < 0x20 || p[i] >= 0x7F ? buf_printf(out, e, "\\x%02X", p[i])
                                          : buf_put_byte(out, p[i], e))
            return -1;
        i++;
    }
    return 0;
}

int record_text_quote(struct buf *out, const unsigned char *p, size_t n, size_t most, struct err *e)
{
    size_t shown = n <= most ? n : most - 1;
    for (int i = 0; i < 3 && shown < n && (p[shown] & 0xC0) == 0x80; i++)
        shown--;
    return buf_put_byte(out, '"', e) || record_text_escape(out, p, shown, e) ||
                   buf_put_str(out, shown < n ? "\"..." : "\"", e)
               ? -1
               : 0;
}

int record_text_count(struct buf *out, uint64_t count, uint64_t denominator, struct err *e)
{
    return buf_printf(out, e, denominator > 1 ? "%llu/%llu" : "%llu", (unsigned long long)count,
                      (unsigned long long)denominator);
}

static int put_text(struct buf *out, const char *key, struct str s, struct err *e)
{
    if (buf_printf(out, e, " %s=", key) || record_text_escape(out, s.p, s.len, e))
        return -1;
    return 0;
}

static int put_id(struct buf *out, const char *key, const unsigned char *id, struct err *e)
{
    char hex[2 * ID_LEN + 1];
    hex_put(hex, id, ID_LEN);
    return buf_printf(out, e, " %s=%s", key, hex);
}

static int put_number(struct buf *out, const char *key, uint64_t v, struct err *e)
{
    return v == UINT64_MAX ? buf_printf(out, e, " %s=?", key)
                           : buf_printf(out, e, " %s=%llu", key, (unsigned long long)v);
}

/* The flags of the special token just written: " flags=lstrip+rstrip"; nothing if there are none. */
static int put_flags(struct buf *out, unsigned flags, struct err *e)
{
    int rc = 0;
    for (unsigned i = 0, n = 0; i < SPECIAL_N_FLAGS && rc == 0; i++) {
        if (flags >> i & 1)
            rc = buf_printf(out, e, "%s%s", n++ ? "+" : " flags=", special_flag_name[i]);
    }
    return rc;
}

static int put_split(struct buf *out, unsigned split, struct err *e)
{
    return split ? buf_printf(out, e, " split=%s%s", split_names[split & SPLIT_MASK],
                              split & SPLIT_BYTE_LEVEL ? "+byte-level" : "")
                 : 0;
}

static int put_metaspace(struct buf *out, const struct metaspace *m, struct err *e)
{
    return buf_printf(out, e, " metaspace=%s%s%s", prefix_place_names[m->place], m->split ? ",split" : "",
                      m->cut ? ",cut" : "");
}

static int put_superwords(struct buf *out, struct str encoded, struct err *e)
{
    struct superword_round r;
    if (superword_round_get(&r, encoded, e) || buf_printf(out, e, " superwords=%s", superword_words_names[r.words]) ||
        put_number(out, "width", r.width, e) || buf_printf(out, e, " model=%016llx", (unsigned long long)r.model) ||
        (r.floor && put_number(out, "floor", r.floor, e)) ||
        (r.live && buf_printf(out, e, " live=%016llx", (unsigned long long)r.live)))
        return -1;
    return 0;
}

int record_text_rules(struct buf *out, struct str wire, struct err *e)
{
    struct rules r;
    if (rules_get(&r, wire, e))
        return -1;
    int rc = r.n_regex ? 0 : put_text(out, "pattern", r.pattern, e);
    for (size_t i = 0; i < r.n_regex && rc == 0; i++)
        rc = put_text(out, "regex", r.regex[i], e) || (r.split.len && put_split(out, r.split.p[i], e)) ? -1 : 0;
    for (size_t i = 0; i < r.n_special && rc == 0; i++)
        rc = put_text(out, "special", r.special[i].text, e) || put_flags(out, r.special[i].flags, e) ? -1 : 0;
    if (rc == 0 && r.prefix.len)
        rc = put_text(out, "prefix", r.prefix, e);
    if (rc == 0 && r.normalizer)
        rc = buf_printf(out, e, " normalize=%s", normalizer_names[r.normalizer]);
    if (rc == 0 && r.metaspace.on)
        rc = put_metaspace(out, &r.metaspace, e);
    if (rc == 0 && r.superwords.len)
        rc = put_superwords(out, r.superwords, e);
    rules_free(&r);
    return rc;
}

static int put_ratio(struct buf *out, const char *key, struct ratio v, struct err *e)
{
    char text[RATIO_TEXT];
    return ratio_is_one(v) ? 0 : buf_printf(out, e, "%s%s", key, ratio_text(v, text));
}

static int put_reading(struct buf *out, struct str encoded, struct err *e)
{
    struct reading r;
    if (reading_get(&r, encoded, e) || buf_printf(out, e, " invalid=%s", invalid_policy_names[r.invalid]))
        return -1;
    if (r.counts)
        return buf_printf(out, e, " counts=%s%s", counts_order_names[r.counts - COUNTS_FIRST], r.raw ? ",raw" : "");
    const struct input_form *form = input_forms[r.form];
    if (form->has_field ? put_text(out, form->name, r.field, e)
                        : r.form != FORM_TEXT && buf_printf(out, e, " %s", form->name))
        return -1;
    if ((r.id.len && put_text(out, "id", r.id, e)) ||
        (form->has_field && buf_printf(out, e, " on-error=%s", on_error_names[r.skip_bad_lines])) ||
        put_ratio(out, " weight=", r.weight, e))
        return -1;
    return 0;
}

/* ---- Records ---- */

static const char *const access_words[] = {
    [ACCESS_FILE] = "", [ACCESS_VALUE] = " by-value", [ACCESS_COMPRESSED] = " compressed"};

static int put_chunk(struct buf *out, const struct record *rec, struct err *e)
{
    struct chunk c;
    if (chunk_get(&c, rec, e) || buf_put_str(out, "# chunk", e) || put_id(out, "run", c.run, e) ||
        record_text_rules(out, c.rules, e) || put_reading(out, c.reading, e) ||
        put_number(out, "source", c.source, e) || put_text(out, "name", c.name, e) ||
        put_number(out, "offset", c.offset, e) || put_number(out, "bytes", c.text.len, e) ||
        put_number(out, "inside", c.inside, e) || (c.before && put_number(out, "behind-special", c.before, e)) ||
        (c.line && put_number(out, "line", c.line, e)) || buf_put_str(out, "\n\t", e) ||
        record_text_escape(out, c.text.p, c.text.len, e) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

static int put_range(struct buf *out, const struct record *rec, struct err *e)
{
    struct range_head h;
    struct source_facts f;
    struct cursor c;
    uint64_t offset, len;
    if (range_get_head(&h, &c, rec, e) || buf_put_str(out, "# range", e) || put_id(out, "run", h.run, e) ||
        record_text_rules(out, h.rules, e) || put_number(out, "promised", h.promised_bytes, e) ||
        buf_put_byte(out, '\n', e))
        return -1;
    for (uint64_t i = 0; i < h.n_files; i++) {
        if (range_get_file(&f, &c, e) || buf_put_str(out, "#  file", e) || put_number(out, "source", f.number, e) ||
            put_text(out, "name", f.name, e) || put_reading(out, f.reading, e) || put_number(out, "size", f.size, e) ||
            buf_printf(out, e, " mtime=%lld.%09llu", (long long)f.mtime_s, (unsigned long long)f.mtime_ns) ||
            buf_put_str(out, access_words[f.access], e) || buf_put_str(out, " pieces=", e))
            return -1;
        for (uint64_t k = 0; k < f.n_pieces; k++) {
            if (range_get_piece(&offset, &len, &f, &c, e) ||
                buf_printf(out, e, "%s%llu+", k ? "," : "", (unsigned long long)offset) ||
                (offset + len == UINT64_MAX ? buf_put_byte(out, '?', e)
                                            : buf_printf(out, e, "%llu", (unsigned long long)len)))
                return -1;
        }
        if (buf_put_byte(out, '\n', e))
            return -1;
    }
    return 0;
}

/* Writes a part of a long pretoken. Consecutive parts make one line. */
static int put_long(struct record_text *v, struct buf *out, const struct words *w, struct err *e)
{
    struct cursor c = cursor_over(w->entries.p, w->entries.len);
    if (w->kind == WORDS_FIRST) {
        v->long_left = get_varint(&c);
        memcpy(v->long_batch, w->in.batch, ID_LEN);
        if (record_text_count(out, get_varint(&c), w->denominator, e) || buf_put_byte(out, '\t', e))
            return -1;
    }
    if (c.bad || cursor_left(&c) > v->long_left)
        return payload_damaged(e, "words");
    v->long_left -= cursor_left(&c);
    v->long_seq = w->in.seq + 1;
    if (record_text_escape(out, c.p, cursor_left(&c), e) || (v->long_left == 0 && buf_put_byte(out, '\n', e)))
        return -1;
    return 0;
}

/* Checks the order of records: the parts of a long pretoken must follow each other. */
static int check_order(const struct record_text *v, const struct record *rec, struct err *e)
{
    struct words w = {.kind = WORDS_WHOLE};
    if (rec->type == RECORD_WORDS && words_get(&w, rec, e))
        return -1;
    bool more = w.kind == WORDS_MORE;
    if (v->long_left ? more && w.in.seq == v->long_seq && memcmp(w.in.batch, v->long_batch, ID_LEN) == 0 : !more)
        return 0;
    return err_set(e, EX_DATAERR,
                   "the parts of a long pretoken are out of order; pass the counts through bpe-sum first");
}

static int put_words(struct record_text *v, struct buf *out, const struct record *rec, struct err *e)
{
    struct words w;
    if (words_get(&w, rec, e))
        return -1;
    if (w.kind != WORDS_WHOLE)
        return put_long(v, out, &w, e);
    struct cursor c = cursor_over(w.entries.p, w.entries.len);
    while (cursor_left(&c)) {
        const struct pretoken word = pretoken_get(&c);
        if (c.bad)
            return payload_damaged(e, "words");
        if (record_text_count(out, word.count, w.denominator, e) || buf_put_byte(out, '\t', e) ||
            record_text_escape(out, word.p, word.len, e) || buf_put_byte(out, '\n', e))
            return -1;
    }
    return 0;
}

/* Writes a line for each document that ends in a tokens record, and one for the end of its piece. */
static int put_marks(struct buf *out, const struct tokens *t, struct err *e)
{
    struct cursor c = cursor_over(t->marks.p, t->marks.len);
    uint64_t n_ids = 0;
    for (uint64_t i = 0; i < t->n_marks; i++) {
        const struct document_mark m = document_mark_get(&c, n_ids);
        n_ids = m.n_ids;
        if (buf_put_str(out, "#  document", e) || put_number(out, "end", m.n_ids, e) ||
            put_number(out, "gap", m.gap, e) || put_number(out, "bytes", m.len, e) ||
            (m.lines && put_number(out, "lines", m.lines, e)) || (m.id.len && put_text(out, "id", m.id, e)) ||
            buf_put_byte(out, '\n', e))
            return -1;
    }
    if (!t->last)
        return 0;
    if (buf_put_str(out, "#  end", e) || put_number(out, "gap", t->tail.gap, e) ||
        put_number(out, "open", t->tail.open, e) || put_number(out, "text", t->tail.text, e) ||
        (t->tail.lines && put_number(out, "lines", t->tail.lines, e)) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

static int put_tokens(struct buf *out, const struct record *rec, struct err *e)
{
    struct tokens t;
    if (tokens_get(&t, rec, e) || buf_put_str(out, "# tokens", e) || put_id(out, "run", t.in.run, e) ||
        put_number(out, "source", t.source, e) || put_number(out, "begin", t.begin, e) ||
        put_number(out, "end", t.end, e) || put_number(out, "first", t.first, e) ||
        put_number(out, "ids", t.ids.len / t.width, e) ||
        buf_printf(out, e, " bytes-per-id=%d model=%016llx\n", (int)t.width, (unsigned long long)t.model) ||
        put_marks(out, &t, e))
        return -1;
    for (size_t i = 0; i < t.ids.len; i += t.width) {
        if (buf_printf(out, e, i ? " %lu" : "%lu", (unsigned long)load_le(t.ids.p + i, (unsigned)t.width)))
            return -1;
    }
    return t.ids.len ? buf_put_byte(out, '\n', e) : 0;
}

/* The weight of a run, and those of its sources with the bytes that are covered. */
static int put_weights(struct buf *out, const struct commit_run *r, struct err *e)
{
    int rc = put_ratio(out, " weight=", r->weight, e);
    for (size_t i = 0; i < r->n_sources && rc == 0; i++)
        rc = put_ratio(out, i ? "," : " source-weights=", r->sources[i].weight, e) ||
                     buf_printf(out, e, ":%llu", (unsigned long long)r->sources[i].bytes)
                 ? -1
                 : 0;
    return rc;
}

static int put_run(struct buf *out, const struct commit_run *r, struct err *e)
{
    if (buf_put_str(out, "#  run", e) || put_id(out, "id", r->run, e) || put_number(out, "bytes", r->total, e) ||
        (r->skipped && put_number(out, "skipped-lines", r->skipped, e)) || put_weights(out, r, e) ||
        buf_put_str(out, r->whole ? " complete" : " ranges=", e))
        return -1;
    for (size_t i = 0; i < r->n_ranges; i++) {
        const struct commit_range *x = &r->range[i];
        if (buf_printf(out, e, "%s%llu:%llu-%llu", i ? "," : "", (unsigned long long)x->source,
                       (unsigned long long)x->begin, (unsigned long long)x->end - 1))
            return -1;
    }
    return buf_put_byte(out, '\n', e);
}

static int put_encoding(struct buf *out, struct str encoding, struct err *e)
{
    static const char *const eot[] = {"none", "before", "after"}, *const special[] = {"token", "text", "error"};
    struct commit_encoding x;
    if (encoding.len == 0)
        return 0;
    if (commit_encoding_get(&x, encoding, e) ||
        buf_printf(out, e, "#  encoding model=%016llx", (unsigned long long)x.model) ||
        put_number(out, "ids", x.n_ids, e) || put_text(out, "pattern", x.pattern, e) ||
        buf_printf(out, e, " eot=%s", eot[x.eot]) || (x.separator && put_number(out, "separator", x.separator - 1, e)))
        return -1;
    return buf_printf(out, e, " special=%s\n", special[x.special]);
}

static int put_source(struct buf *out, const struct source_facts *s, bool sized, struct err *e)
{
    if (buf_put_str(out, "#  source", e) || put_number(out, "number", s->number, e) ||
        put_text(out, "name", s->name, e) || put_reading(out, s->reading, e) ||
        (sized && put_number(out, "bytes", s->size, e)) || buf_put_str(out, access_words[s->access], e) ||
        buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

static int put_sources(struct buf *out, struct str sources, struct err *e)
{
    struct cursor c = cursor_over(sources.p, sources.len);
    while (cursor_left(&c)) {
        struct source_facts s;
        if (commit_source_get(&s, &c, e) || put_source(out, &s, s.size, e))
            return -1;
    }
    return 0;
}

static int put_commit(struct buf *out, const struct commit *k, struct err *e)
{
    bool tokens = k->kind == RECORD_TOKENS;
    if (record_text_rules(out, k->rules, e) ||
        put_number(out, tokens ? "tokens-records" : "words-records", k->n_records, e) ||
        buf_printf(out, e, " %s=", tokens ? "ids" : "pretokens") ||
        record_text_count(out, k->n_items, k->denominator, e) ||
        (k->text != commit_covered(k) && put_number(out, "text", k->text, e)) || buf_put_byte(out, '\n', e))
        return -1;
    for (size_t i = 0; i < k->n_runs; i++) {
        if (put_run(out, &k->run[i], e))
            return -1;
    }
    if (put_encoding(out, k->encoding, e) || put_sources(out, k->sources, e))
        return -1;
    return 0;
}

static int put_promise(struct buf *out, struct str content, struct err *e)
{
    struct promise_head h;
    struct source_facts s;
    struct cursor c = cursor_over(content.p, content.len);
    if (promise_get_head(&h, &c, e) || record_text_rules(out, h.rules, e) || buf_put_byte(out, '\n', e))
        return -1;
    for (uint64_t i = 0; i < h.n_sources; i++) {
        if (promise_get_source(&s, &c, e))
            return -1;
        s.number = i;
        if (put_source(out, &s, true, e))
            return -1;
    }
    return 0;
}

/* Writes a commit, summary or promise; for a part of a longer one, only its number. */
static int put_fragment(struct buf *out, const struct record *rec, struct err *e)
{
    struct fragment part;
    struct commit k;
    bool promise = rec->type == RECORD_PROMISE;
    const char *type = promise ? "promise" : rec->type == RECORD_COMMIT ? "commit" : "summary";
    if (fragment_get(&part, rec, e) || buf_printf(out, e, "# %s", type) ||
        put_id(out, promise ? "run" : "batch", part.id, e))
        return -1;
    if (part.n_parts > 1)
        return buf_printf(out, e, " part=%llu of=%llu\n", (unsigned long long)part.part,
                          (unsigned long long)part.n_parts);
    if (promise)
        return put_promise(out, part.bytes, e);
    int rc = commit_get(&k, part.bytes, e) || put_commit(out, &k, e) ? -1 : 0;
    commit_free(&k);
    return rc;
}

static int put_failure(struct buf *out, const struct record *rec, struct err *e)
{
    struct failure f;
    if (failure_get(&f, rec, e) || buf_put_str(out, "# failure", e) || put_id(out, "run", f.run, e) ||
        put_number(out, "source", f.source, e) || put_number(out, "offset", f.offset, e) ||
        put_number(out, "exit", f.code, e) || put_text(out, "message", f.msg, e) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

/* The fields that all journal entries begin with; only bpe-shard interprets the rest. */
static int put_journal(struct buf *out, const struct record *rec, struct err *e)
{
    struct cursor c = cursor_over(rec->payload, rec->len);
    uint64_t group = get_varint(&c);
    const unsigned char *run = get_bytes(&c, ID_LEN);
    unsigned commit = get_choice(&c, 1);
    if (c.bad)
        return payload_damaged(e, "journal");
    if (buf_put_str(out, "# journal", e) || put_id(out, "run", run, e) || put_number(out, "group", group, e) ||
        put_number(out, "commit", commit, e) || put_number(out, "bytes", rec->len, e) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

int record_text_put(struct record_text *v, struct buf *out, const struct record *rec, struct err *e)
{
    if (check_order(v, rec, e))
        return -1;
    switch (rec->type) {
    case RECORD_CHUNK:
        return put_chunk(out, rec, e);
    case RECORD_RANGE:
        return put_range(out, rec, e);
    case RECORD_WORDS:
        return put_words(v, out, rec, e);
    case RECORD_TOKENS:
        return put_tokens(out, rec, e);
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
    case RECORD_PROMISE:
        return put_fragment(out, rec, e);
    case RECORD_FAILURE:
        return put_failure(out, rec, e);
    case RECORD_JOURNAL:
        return put_journal(out, rec, e);
    default:
        return err_set(e, EX_DATAERR, "a record of unknown type 0x%02X", rec->type);
    }
}
