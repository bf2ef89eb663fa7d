/* fuzz_records.c - the frame of records, and the contents of each type of record. All readable contents are read to
 * their end. */
#include "records.h"
#include "wire/commit.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/payload.h"

static void get_rules(struct str encoded)
{
    struct rules rules;
    struct err e;
    if (rules_get(&rules, encoded, &e) == 0)
        rules_free(&rules);
}

static void get_reading(struct str encoded)
{
    struct reading reading;
    struct err e;
    (void)!reading_get(&reading, encoded, &e);
}

static void get_range(const struct record *rec)
{
    struct range_head head;
    struct source_facts file;
    struct cursor c;
    struct err e;
    uint64_t offset, len;
    if (range_get_head(&head, &c, rec, &e))
        return;
    get_rules(head.rules);
    for (uint64_t i = 0; i < head.n_files && range_get_file(&file, &c, &e) == 0; i++) {
        get_reading(file.reading);
        for (uint64_t k = 0; k < file.n_pieces && range_get_piece(&offset, &len, &file, &c, &e) == 0; k++) {
        }
    }
}

static void get_promise(struct str content)
{
    struct cursor c = cursor_over(content.p, content.len);
    struct promise_head head;
    struct source_facts source;
    struct err e;
    if (promise_get_head(&head, &c, &e))
        return;
    get_rules(head.rules);
    for (uint64_t i = 0; i < head.n_sources && promise_get_source(&source, &c, &e) == 0; i++)
        get_reading(source.reading);
}

static void get_commit(struct str content)
{
    struct commit k;
    struct err e;
    if (commit_get(&k, content, &e) == 0) {
        get_rules(k.rules);
        for (size_t i = 0; i < k.n_runs; i++) {
            for (size_t n = 0; n < k.run[i].n_ranges; n++) {
                if (k.run[i].range[n].begin >= k.run[i].range[n].end)
                    abort();
            }
        }
        struct commit_encoding encoding;
        struct source_facts source;
        (void)!commit_encoding_get(&encoding, k.encoding, &e);
        for (struct cursor c = cursor_over(k.sources.p, k.sources.len); cursor_left(&c);) {
            if (commit_source_get(&source, &c, &e))
                break;
            get_reading(source.reading);
        }
    }
    commit_free(&k);
}

/* tokens_get has checked the marks. */
static void get_tokens(const struct tokens *t)
{
    struct cursor c = cursor_over(t->marks.p, t->marks.len);
    uint64_t n_ids = 0;
    for (uint64_t i = 0; i < t->n_marks; i++)
        n_ids = document_mark_get(&c, n_ids).n_ids;
    if (c.bad || cursor_left(&c) || n_ids > t->ids.len / t->width)
        abort();
}

static void get(void *ctx, const struct record *rec)
{
    (void)ctx;
    struct chunk chunk;
    struct words words;
    struct tokens tokens;
    struct fragment part;
    struct failure failure;
    struct err e;
    switch (rec->type) {
    case RECORD_CHUNK:
        if (chunk_get(&chunk, rec, &e) == 0) {
            get_rules(chunk.rules);
            get_reading(chunk.reading);
        }
        break;
    case RECORD_RANGE:
        get_range(rec);
        break;
    case RECORD_PROMISE:
    case RECORD_COMMIT:
    case RECORD_SUMMARY:
        if (fragment_get(&part, rec, &e) == 0)
            (rec->type == RECORD_PROMISE ? get_promise : get_commit)(part.bytes);
        break;
    case RECORD_WORDS:
        (void)!words_get(&words, rec, &e);
        break;
    case RECORD_TOKENS:
        if (tokens_get(&tokens, rec, &e) == 0)
            get_tokens(&tokens);
        break;
    case RECORD_FAILURE:
        (void)!failure_get(&failure, rec, &e);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_each(data, size, get, NULL);
    fuzz_each_reframed(data, size, get, NULL);
    return 0;
}
