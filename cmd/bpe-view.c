/* bpe-view - shows records as text, or checks them.
 *
 * Counts are lines `count TAB pretoken`, made for sort(1) and grep(1); every other record is a line that begins with
 * `#`, and what it holds.
 */
#include "io/fd.h"
#include "io/prog.h"
#include "records/batch_store.h"
#include "records/commit.h"
#include "records/failure.h"
#include "records/ledger.h"
#include "records/parts.h"
#include "records/payload.h"
#include "records/record.h"
#include "sys/buf.h"
#include "sys/num.h"
#include "sys/simd.h"
#include "unicode/utf8.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define NAME "bpe-view"

static const char usage[] =
    "usage: bpe-view [--check] [FILE...]\n"
    "Shows records as text: counts as lines `count TAB pretoken`, other records as lines with #\n"
    "and, below, what they hold: the text of chunks, the ids of tokens.\n"
    "In pretokens and text, \\n \\r \\t \\\\ and \\xHH stand for what would not show.\n"
    "      --check    show nothing; verify every record, and that all that was promised is there\n"
    "  -h, --help     this text\n"
    "      --version  version\n";

struct options {
    bool check;
    char **files;
    int n_files;
};

struct viewer {
    struct options opt;
    struct ledger ledger; /* for --check */
    struct batch_stores stores;
    struct buf out;
    uint64_t n_records;
    uint64_t long_left; /* bytes to come of a long pretoken whose line has begun, */
    uint64_t long_seq;  /* in the record of this number */
    unsigned char long_batch[ID_LEN];
};

/* ---- Text ---- */

/* Valid UTF-8 as it is; control characters, backslashes and other bytes escaped. */
static int put_escaped(struct buf *out, const unsigned char *p, size_t n, struct err *e)
{
    bool cut;
    for (size_t i = 0; i < n;) {
        size_t valid = p[i] < 0x80 ? 1 : utf8_valid_len(p + i, n - i < 4 ? n - i : 4, &cut);
        if (p[i] >= 0x80 && valid) {
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

static int put_str(struct buf *out, const char *key, struct str s, struct err *e)
{
    return buf_printf(out, e, " %s=", key) || put_escaped(out, s.p, s.len, e) ? -1 : 0;
}

static int put_id(struct buf *out, const char *key, const unsigned char *id, struct err *e)
{
    if (buf_printf(out, e, " %s=", key))
        return -1;
    for (int i = 0; i < ID_LEN; i++) {
        if (buf_printf(out, e, "%02x", id[i]))
            return -1;
    }
    return 0;
}

static int put_number(struct buf *out, const char *key, uint64_t v, struct err *e)
{
    return v == UINT64_MAX ? buf_printf(out, e, " %s=?", key)
                           : buf_printf(out, e, " %s=%llu", key, (unsigned long long)v);
}

static int put_rules(struct buf *out, struct str wire, struct err *e)
{
    struct rules r;
    if (rules_get(&r, wire, e))
        return -1;
    int rc = r.n_regex ? 0 : put_str(out, "pattern", r.pattern, e);
    for (size_t i = 0; i < r.n_regex && rc == 0; i++)
        rc = put_str(out, "regex", r.regex[i], e);
    for (size_t i = 0; i < r.n_special && rc == 0; i++)
        rc = put_str(out, "special", r.special[i], e);
    rules_free(&r);
    return rc;
}

static int put_reading(struct buf *out, struct str encoded, struct err *e)
{
    struct reading r;
    if (reading_get(&r, encoded, e) || buf_printf(out, e, " invalid=%s", invalid_policy_names[r.invalid]))
        return -1;
    if (!r.jsonl)
        return 0;
    return put_str(out, "jsonl", r.field, e) || buf_printf(out, e, " on-error=%s", r.skip_bad_lines ? "skip" : "fail")
               ? -1
               : 0;
}

/* ---- Records ---- */

static int view_chunk(struct buf *out, const struct record *rec, struct err *e)
{
    struct chunk c;
    return chunk_get(&c, rec, e) || buf_put_str(out, "# chunk", e) || put_id(out, "run", c.run, e) ||
                   put_rules(out, c.rules, e) || put_reading(out, c.reading, e) ||
                   put_number(out, "source", c.source, e) || put_str(out, "name", c.name, e) ||
                   put_number(out, "offset", c.offset, e) || put_number(out, "bytes", c.text.len, e) ||
                   put_number(out, "inside", c.inside, e) ||
                   (c.before && put_number(out, "behind-special", c.before, e)) ||
                   (c.line && put_number(out, "line", c.line, e)) || buf_put_str(out, "\n\t", e) ||
                   put_escaped(out, c.text.p, c.text.len, e) || buf_put_byte(out, '\n', e)
               ? -1
               : 0;
}

static int view_range(struct buf *out, const struct record *rec, struct err *e)
{
    struct range_head h;
    struct range_file f;
    struct cursor c;
    uint64_t offset, len;
    if (range_get_head(&h, &c, rec, e) || buf_put_str(out, "# range", e) || put_id(out, "run", h.run, e) ||
        put_rules(out, h.rules, e) || put_number(out, "promised", h.promised_bytes, e) || buf_put_byte(out, '\n', e))
        return -1;
    for (uint64_t i = 0; i < h.n_files; i++) {
        if (range_get_file(&f, &c, e) || buf_put_str(out, "#  file", e) || put_number(out, "source", f.source, e) ||
            put_str(out, "name", f.name, e) || put_reading(out, f.reading, e) || put_number(out, "size", f.size, e) ||
            buf_printf(out, e, " mtime=%lld.%09llu", (long long)f.mtime_s, (unsigned long long)f.mtime_ns) ||
            (f.by_value && buf_put_str(out, " by-value", e)) || buf_put_str(out, " pieces=", e))
            return -1;
        for (uint64_t k = 0; k < f.n_pieces; k++) {
            if (range_get_piece(&offset, &len, &f, &c, e) ||
                buf_printf(out, e, "%s%llu+%llu", k ? "," : "", (unsigned long long)offset, (unsigned long long)len))
                return -1;
        }
        if (buf_put_byte(out, '\n', e))
            return -1;
    }
    return 0;
}

/* A part of a pretoken that is too long for one record. The parts that follow each other make one line. */
static int view_long(struct viewer *v, const struct words *w, struct err *e)
{
    struct cursor c = cursor_over(w->entries.p, w->entries.len);
    struct buf *out = &v->out;
    if (w->kind == WORDS_FIRST) {
        v->long_left = get_varint(&c);
        memcpy(v->long_batch, w->in.batch, ID_LEN);
        if (buf_printf(out, e, "%llu\t", (unsigned long long)get_varint(&c)))
            return -1;
    }
    if (c.bad || cursor_left(&c) > v->long_left)
        return payload_damaged(e, "words");
    v->long_left -= cursor_left(&c);
    v->long_seq = w->in.seq + 1;
    return put_escaped(out, c.p, cursor_left(&c), e) || (v->long_left == 0 && buf_put_byte(out, '\n', e)) ? -1 : 0;
}

/* Whether the record may come now: the parts of a long pretoken must follow each other. */
static int check_order(const struct viewer *v, const struct record *rec, struct err *e)
{
    struct words w = {.kind = WORDS_WHOLE};
    if (rec->type == RECORD_WORDS && words_get(&w, rec, e))
        return -1;
    bool more = w.kind == WORDS_MORE;
    if (v->long_left ? more && w.in.seq == v->long_seq && memcmp(w.in.batch, v->long_batch, ID_LEN) == 0 : !more)
        return 0;
    return err_set(e, EX_DATAERR,
                   "the parts of a long pretoken do not follow each other; sort them out with bpe-sum first");
}

static int view_words(struct viewer *v, const struct record *rec, struct err *e)
{
    struct words w;
    struct buf *out = &v->out;
    if (words_get(&w, rec, e))
        return -1;
    if (w.kind != WORDS_WHOLE)
        return view_long(v, &w, e);
    struct cursor c = cursor_over(w.entries.p, w.entries.len);
    while (cursor_left(&c)) {
        const struct pretoken word = pretoken_get(&c);
        if (c.bad)
            return payload_damaged(e, "words");
        if (buf_printf(out, e, "%llu\t", (unsigned long long)word.count) || put_escaped(out, word.p, word.len, e) ||
            buf_put_byte(out, '\n', e))
            return -1;
    }
    return 0;
}

static int view_tokens(struct buf *out, const struct record *rec, struct err *e)
{
    struct tokens t;
    if (tokens_get(&t, rec, e) || buf_put_str(out, "# tokens", e) || put_id(out, "run", t.in.run, e) ||
        put_number(out, "source", t.source, e) || put_number(out, "begin", t.begin, e) ||
        put_number(out, "first", t.first, e) || put_number(out, "ids", t.ids.len / t.width, e) ||
        buf_put_str(out, " ends=", e))
        return -1;
    struct cursor c = cursor_over(t.ends.p, t.ends.len);
    for (uint64_t i = 0; i < t.n_ends; i++) {
        if (buf_printf(out, e, "%s%llu", i ? "," : "", (unsigned long long)get_varint(&c)))
            return -1;
    }
    if (buf_printf(out, e, " bytes-per-id=%d model=%016llx", (int)t.width, (unsigned long long)t.model))
        return -1;
    for (size_t i = 0; i < t.ids.len; i += t.width) {
        if (buf_printf(out, e, "%c%lu", i ? ' ' : '\n', (unsigned long)load_le(t.ids.p + i, (unsigned)t.width)))
            return -1;
    }
    return buf_put_byte(out, '\n', e);
}

static int view_run(struct buf *out, const struct commit_run *r, struct err *e)
{
    if (buf_put_str(out, "#  run", e) || put_id(out, "id", r->run, e) || put_number(out, "bytes", r->total, e) ||
        (r->skipped && put_number(out, "skipped-lines", r->skipped, e)) ||
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

static int view_commit(struct buf *out, const struct commit *k, struct err *e)
{
    bool tokens = k->kind == RECORD_TOKENS;
    if (put_rules(out, k->rules, e) || put_number(out, tokens ? "tokens-records" : "words-records", k->n_records, e) ||
        put_number(out, tokens ? "ids" : "pretokens", k->n_items, e) || buf_put_byte(out, '\n', e))
        return -1;
    for (size_t i = 0; i < k->n_runs; i++) {
        if (view_run(out, &k->run[i], e))
            return -1;
    }
    return 0;
}

/* The content of a commit or summary; if it comes in several parts, only that it is one of them. */
static int view_end(struct buf *out, const struct record *rec, struct err *e)
{
    struct part part;
    struct commit k;
    if (part_get(&part, rec, e) || buf_put_str(out, rec->type == RECORD_COMMIT ? "# commit" : "# summary", e) ||
        put_id(out, "batch", part.id, e))
        return -1;
    if (part.n_parts > 1)
        return buf_printf(out, e, " part=%llu of=%llu\n", (unsigned long long)part.part,
                          (unsigned long long)part.n_parts);
    int rc = commit_get(&k, part.bytes, e) || view_commit(out, &k, e) ? -1 : 0;
    commit_free(&k);
    return rc;
}

static int view_promise(struct buf *out, const struct record *rec, struct err *e)
{
    struct part part;
    struct promise_head h;
    struct promise_source s;
    if (part_get(&part, rec, e) || buf_put_str(out, "# promise", e) || put_id(out, "run", part.id, e))
        return -1;
    if (part.n_parts > 1)
        return buf_printf(out, e, " part=%llu of=%llu\n", (unsigned long long)part.part,
                          (unsigned long long)part.n_parts);
    struct cursor c = cursor_over(part.bytes.p, part.bytes.len);
    if (promise_get_head(&h, &c, e) || put_rules(out, h.rules, e) || buf_put_byte(out, '\n', e))
        return -1;
    for (uint64_t i = 0; i < h.n_sources; i++) {
        if (promise_get_source(&s, &c, e) || buf_put_str(out, "#  source", e) || put_number(out, "number", i, e) ||
            put_str(out, "name", s.name, e) || put_reading(out, s.reading, e) || put_number(out, "bytes", s.size, e) ||
            buf_put_str(out, s.by_value ? " by-value\n" : "\n", e))
            return -1;
    }
    return 0;
}

static int view_failure(struct buf *out, const struct record *rec, struct err *e)
{
    struct failure f;
    return failure_get(&f, rec, e) || buf_put_str(out, "# failure", e) || put_id(out, "run", f.run, e) ||
                   put_number(out, "source", f.source, e) || put_number(out, "offset", f.offset, e) ||
                   put_number(out, "exit", f.code, e) || put_str(out, "message", f.msg, e) || buf_put_byte(out, '\n', e)
               ? -1
               : 0;
}

static int view_record(struct viewer *v, const struct record *rec, struct err *e)
{
    struct buf *out = &v->out;
    if (check_order(v, rec, e))
        return -1;
    switch (rec->type) {
    case RECORD_CHUNK:
        return view_chunk(out, rec, e);
    case RECORD_RANGE:
        return view_range(out, rec, e);
    case RECORD_WORDS:
        return view_words(v, rec, e);
    case RECORD_TOKENS:
        return view_tokens(out, rec, e);
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
        return view_end(out, rec, e);
    case RECORD_PROMISE:
        return view_promise(out, rec, e);
    case RECORD_FAILURE:
        return view_failure(out, rec, e);
    default:
        return err_set(e, EX_DATAERR, "a record of unknown type 0x%02X", rec->type);
    }
}

/* ---- Checking ---- */

static int take_nothing(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    (void)ctx, (void)w, (void)n, (void)e;
    return 0;
}

/* A range, by itself: in a stream of chunks. */
static int cover(struct ledger *l, const unsigned char *run, struct str rules, const struct commit_range *range,
                 uint64_t promised_bytes, const char *stream, struct err *e)
{
    return coverage_check_rules(&l->coverage, rules, stream, e) ||
                   coverage_enter_range(&l->coverage, run, range, promised_bytes, e)
               ? -1
               : 0;
}

static int check_range(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct range_head h;
    struct range_file f;
    struct cursor c;
    uint64_t offset, len;
    if (range_get_head(&h, &c, rec, e))
        return -1;
    for (uint64_t i = 0; i < h.n_files; i++) {
        if (range_get_file(&f, &c, e))
            return -1;
        for (uint64_t k = 0; k < f.n_pieces; k++) {
            if (range_get_piece(&offset, &len, &f, &c, e) ||
                cover(l, h.run, h.rules, &(struct commit_range){f.source, offset, offset + len}, h.promised_bytes,
                      stream, e))
                return -1;
        }
    }
    return 0;
}

static int check_record(struct ledger *l, const struct record *rec, const char *stream, struct err *e)
{
    struct chunk c;
    if (rec->type == RECORD_RANGE)
        return check_range(l, rec, stream, e);
    if (rec->type != RECORD_CHUNK)
        return ledger_put(l, rec, stream, e);
    if (chunk_get(&c, rec, e))
        return -1;
    const struct commit_range range = {c.source, c.offset, c.offset + c.text.len};
    return c.text.len ? cover(l, c.run, c.rules, &range, 0, stream, e) : 0;
}

static int report(struct viewer *v, struct err *e)
{
    char line[200], size[32];
    if (ledger_finish(&v->ledger, v->ledger.tokens ? "run them again" : "run them again with --missing", e))
        return -1;
    snprintf(line, sizeof line, "complete: %llu records, %s of text\n", (unsigned long long)v->n_records,
             num_bytes(size, sizeof size, (double)v->ledger.coverage.covered));
    return fd_write(1, line, strlen(line), "standard output", e);
}

/* ---- The program ---- */

static int take_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct viewer *v = ctx;
    v->n_records++;
    v->out.len = 0;
    if (v->opt.check)
        return check_record(&v->ledger, rec, stream, e);
    return view_record(v, rec, e) || fd_write(1, v->out.p, v->out.len, "standard output", e) ? -1 : 0;
}

static int run(struct viewer *v, struct err *e)
{
    for (int i = 0; i < v->opt.n_files; i++) {
        if (record_each_of(v->opt.files[i], take_record, v, e))
            return -1;
    }
    return (v->opt.check && report(v, e)) || fd_close_stdout(e) ? -1 : 0;
}

/* Reads the command line. 0: go on; 1: help or version was printed (e->code); -1: wrong use. */
static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {
        {"check", no_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};
    e->code = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1;) {
        switch (c) {
        case 'c':
            o->check = true;
            break;
        case 'h':
            e->code = prog_print(NAME, usage);
            return 1;
        case 'V':
            e->code = prog_print(NAME, NAME " " BPE_VERSION "\n");
            return 1;
        default:
            return prog_bad_option(c, argv, e);
        }
    }
    o->files = prog_files(argc, argv, &o->n_files);
    return 0;
}

int main(int argc, char **argv)
{
    static struct viewer v;
    struct err e;
    fd_prepare();
    int rc = parse(&v.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0) {
        batch_stores_init(&v.stores, take_nothing, &v, NULL);
        v.stores.eager = v.stores.any_kind = true;
        ledger_init(&v.ledger, &batch_store_content, &v.stores);
        rc = simd_prepare(&e) || run(&v, &e) ? -1 : 0;
        ledger_free(&v.ledger);
        batch_stores_free(&v.stores);
        buf_free(&v.out);
    }
    return rc < 0 ? prog_fail(NAME, &e) : 0;
}
