/* bpe-view - shows records as text, checks them, or writes them as lines of base64 and back.
 *
 * Counts become lines `count TAB pretoken`, for sort(1) and grep(1). Any other record becomes a line that begins with
 * `#`, followed by its contents. bpe-count --counts makes counts of such lines again; a transport that carries only
 * lines of text needs the records as base64.
 */
#include "base/cli/program.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "base/sys/num.h"
#include "usage/view_usage.h"
#include "wire/armor.h"
#include "wire/batch_store.h"
#include "wire/failure.h"
#include "wire/ledger.h"
#include "wire/payload.h"
#include "wire/record.h"
#include "wire/record_text.h"

#include <stdio.h>
#include <string.h>

#define NAME "bpe-view"

struct viewer {
    struct view_options opt;
    struct ledger ledger; /* for --check */
    struct batch_stores stores;
    struct buf out;
    uint64_t n_records;
    uint64_t plain;      /* --check: bytes of text in chunks, and in ranges of files that are not compressed; */
    uint64_t compressed; /* and bytes of compressed files in ranges */
    struct record_text text;
};

/* ---- Checking ---- */

static int take_nothing(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    (void)ctx, (void)w, (void)n, (void)e;
    return 0;
}

/* Marks a range as covered, for a stream of chunks, which has no batches. */
static int cover(struct viewer *v, const unsigned char *run, struct str rules, const struct commit_range *range,
                 enum source_access access, uint64_t promised_bytes, const char *stream, struct err *e)
{
    struct coverage *c = &v->ledger.coverage;
    *(access == ACCESS_COMPRESSED ? &v->compressed : &v->plain) += range->end - range->begin;
    if (coverage_check_rules(c, rules, true, stream, e) || coverage_enter_range(c, run, range, promised_bytes, e))
        return -1;
    return 0;
}

static int check_range(struct viewer *v, const struct record *rec, const char *stream, struct err *e)
{
    struct range_head h;
    struct source_facts f;
    struct cursor c;
    uint64_t offset, len;
    if (range_get_head(&h, &c, rec, e))
        return -1;
    for (uint64_t i = 0; i < h.n_files; i++) {
        if (range_get_file(&f, &c, e))
            return -1;
        for (uint64_t k = 0; k < f.n_pieces; k++) {
            if (range_get_piece(&offset, &len, &f, &c, e) ||
                cover(v, h.run, h.rules, &(struct commit_range){f.number, offset, offset + len}, f.access,
                      h.promised_bytes, stream, e))
                return -1;
        }
    }
    return 0;
}

static int check_record(struct viewer *v, const struct record *rec, const char *stream, struct err *e)
{
    struct chunk c;
    if (rec->type == RECORD_RANGE)
        return check_range(v, rec, stream, e);
    if (rec->type != RECORD_CHUNK)
        return ledger_put(&v->ledger, rec, stream, e);
    if (chunk_get(&c, rec, e))
        return -1;
    const struct commit_range range = {c.source, c.offset, c.offset + c.text.len};
    return c.text.len ? cover(v, c.run, c.rules, &range, ACCESS_VALUE, 0, stream, e) : 0;
}

/* How much text there is. For compressed files by reference, only the programs that read them know. */
static void put_size(const struct viewer *v, char *to, size_t n)
{
    const struct coverage *c = &v->ledger.coverage;
    uint64_t bytes = v->plain + c->text;
    char text[32], files[32];
    num_bytes(text, sizeof text, (double)bytes);
    num_bytes(files, sizeof files, (double)(v->compressed ? v->compressed : c->covered));
    if (v->compressed)
        snprintf(to, n, "%s%s%s of compressed text", bytes ? text : "", bytes ? " of text, and " : "", files);
    else if (bytes != c->covered)
        snprintf(to, n, "%s of text (%s in files)", text, files);
    else
        snprintf(to, n, "%s of text", text);
}

static int report(struct viewer *v, struct err *e)
{
    char line[200], size[100];
    if (ledger_finish(&v->ledger, "run them again", e))
        return -1;
    put_size(v, size, sizeof size);
    snprintf(line, sizeof line, "complete: %llu records, %s\n", (unsigned long long)v->n_records, size);
    return fd_write(1, line, strlen(line), "standard output", e);
}

/* ---- The program ---- */

static int take_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct viewer *v = ctx;
    v->n_records++;
    v->out.len = 0;
    if (v->opt.check)
        return check_record(v, rec, stream, e);
    if (v->opt.armor)
        return armor_on(1, "standard output", &v->out, (struct str){rec->raw, rec->raw_len}, e);
    if (record_text_put(&v->text, &v->out, rec, e) || fd_write(1, v->out.p, v->out.len, "standard output", e))
        return -1;
    return 0;
}

static int run(void *ctx, struct err *e)
{
    struct viewer *v = ctx;
    if (v->opt.dearmor && program_no_terminal(PROGRAM_FOR_RECORDS, e))
        return -1;
    batch_stores_init(&v->stores, take_nothing, v, NULL);
    v->stores.eager = v->stores.any_kind = true;
    ledger_init(&v->ledger, &batch_store_content, &v->stores);
    for (int i = 0; i < v->opt.n_files; i++) {
        const char *file = v->opt.files[i];
        if (v->opt.dearmor ? armor_off(file, 1, "standard output", e) : record_each_of(file, take_record, v, e))
            return -1;
    }
    if ((v->opt.check && report(v, e)) || fd_close_stdout(e))
        return -1;
    return 0;
}

/* In a pipeline, the next program must learn that the records are incomplete. */
static void send_failure(void *ctx, const struct err *why)
{
    struct viewer *v = ctx;
    struct err ignored;
    struct buf failure = {0};
    if (v->opt.dearmor)
        failure_send(1, NULL, FAILURE_NOWHERE, FAILURE_NOWHERE, why);
    else if (v->opt.armor && !failure_put_error(&failure, NULL, FAILURE_NOWHERE, FAILURE_NOWHERE, why, &ignored))
        armor_on(1, "standard output", &v->out, buf_str(&failure), &ignored);
    buf_free(&failure);
}

static void viewer_free(void *ctx)
{
    struct viewer *v = ctx;
    ledger_free(&v->ledger);
    batch_stores_free(&v->stores);
    buf_free(&v->out);
}

/* ---- The command line ---- */

static struct viewer self;

static const struct program program = {
    .usage = &view_usage,
    .options = &self.opt,
    .codecs = codec_versions,
    .ctx = &self,
    .run = run,
    .send_failure = send_failure,
    .free = viewer_free,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
