/* fuzz_model.c - the readers of models. The first line of the input names the format. The file follows, and after a
 * zero byte the second one, if the format has two:
 *
 *     json                 tokenizer.json
 *     gpt2                 vocab.json, merges.txt
 *     tiktoken             the ranks, or the ranks and their sidecar
 *     mistral              tekken.json
 *     sentencepiece        tokenizer.model, which may contain zero bytes
 *     boundless            the .model of BoundlessBPE
 *     config               tokenizer_config.json, added_tokens.json: with a pair of files, and with ranks
 *
 * Each must have tokens for all 256 bytes, which would be most of a small file, so @BYTES@ stands for them in the
 * file's format. A model that can be read must be usable: all of it is read, and written as JSON and as a BoundlessBPE
 * model; then it gets special tokens and loses others, and is compared with itself.
 */
#include "base/sys/base64.h"
#include "base/sys/buf.h"
#include "fuzz.h"
#include "model/formats.h"
#include "model/model_convert.h"
#include "model/model_diff.h"
#include "model/model_grow.h"
#include "model/model_read.h"
#include "model/model_shrink.h"
#include "pretok/byte_level.h"

#include <string.h>
#include <sys/stat.h>

static char dir[64];
static struct fuzz_file one, two;

static void leave(void)
{
    static const char *const names[] = {"json",
                                        "gpt2/vocab.json",
                                        "gpt2/merges.txt",
                                        "gpt2",
                                        "plain.tiktoken",
                                        "beside.tiktoken",
                                        "beside.tiktoken.json",
                                        "pair/vocab.json",
                                        "pair/merges.txt",
                                        "pair/tokenizer_config.json",
                                        "pair/added_tokens.json",
                                        "pair",
                                        "ranks/tiktoken.model",
                                        "ranks/tokenizer_config.json",
                                        "ranks/added_tokens.json",
                                        "ranks"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        remove(path);
    }
    rmdir(dir);
}

static void put_link(const char *to, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (symlink(to, path))
        abort();
}

enum form { MEMBERS, LINES, TEKKEN, BOUNDLESS };

/* Puts the tokens of all bytes as members of an object, as lines of base64 and rank, as the items of tekken.json, or as
 * lines of the vocabulary of a BoundlessBPE model. */
static void put_bytes(struct buf *out, enum form form)
{
    struct err e;
    for (unsigned b = 0; b < 256; b++) {
        unsigned char byte = (unsigned char)b;
        if (form == TEKKEN)
            buf_put_str(out, b ? ",{\"token_bytes\":\"" : "{\"token_bytes\":\"", &e);
        if (form == MEMBERS) {
            buf_put_str(out, byte == '"' || byte == '\\' ? ",\"\\" : b ? ",\"" : "\"", &e);
            byte_level_put(out, &byte, 1, &e);
        } else if (form == BOUNDLESS) {
            buf_printf(out, &e, "%u ", b);
            byte_level_put(out, &byte, 1, &e);
        } else {
            base64_put(out, &byte, 1, &e);
        }
        if (form == BOUNDLESS)
            buf_put_str(out, " 0 0\n", &e);
        else
            buf_printf(out, &e, form == LINES ? " %u\n" : form == TEKKEN ? "\",\"rank\":%u}" : "\":%u", b);
    }
}

static void expand(struct buf *out, const uint8_t *p, size_t n, enum form form)
{
    static const char name[] = "@BYTES@";
    const uint8_t *at;
    struct err e;
    while ((at = memmem(p, n, name, sizeof name - 1)) && out->len < 1 << 20) {
        buf_put(out, p, (size_t)(at - p), &e);
        put_bytes(out, form);
        n -= (size_t)(at - p) + sizeof name - 1;
        p = at + sizeof name - 1;
    }
    buf_put(out, p, n, &e);
}

/* Writes a file with this text, and with tokens in place of @BYTES@. */
static void put_text(const char *name, const char *text, enum form form)
{
    struct buf b = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    expand(&b, (const uint8_t *)text, strlen(text), form);
    if (!f || fwrite(b.p, 1, b.len, f) != b.len || fclose(f))
        abort();
    buf_free(&b);
}

/* Makes a directory in which each format finds its files under their usual names. */
static void prepare(void)
{
    char path[128];
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%.40s/bpe-fuzz-XXXXXX", tmp && strlen(tmp) <= 40 ? tmp : "/tmp");
    if (!mkdtemp(dir))
        abort();
    static const char *const inside[] = {"gpt2", "pair", "ranks"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, inside[i]);
        if (mkdir(path, 0700))
            abort();
    }
    put_text("pair/vocab.json", "{@BYTES@,\"he\":256,\"<a>\":257}", MEMBERS);
    put_text("pair/merges.txt", "h e\n", MEMBERS);
    put_text("ranks/tiktoken.model", "@BYTES@aGU= 256\n", LINES);
    const char *first = fuzz_fill(&one, "", 0), *second = fuzz_fill(&two, "", 0);
    put_link(first, "json");
    put_link(first, "gpt2/vocab.json");
    put_link(second, "gpt2/merges.txt");
    put_link(first, "plain.tiktoken");
    put_link(first, "beside.tiktoken");
    put_link(second, "beside.tiktoken.json");
    put_link(first, "pair/tokenizer_config.json");
    put_link(second, "pair/added_tokens.json");
    put_link(first, "ranks/tokenizer_config.json");
    put_link(second, "ranks/added_tokens.json");
    atexit(leave);
}

/* The number of tokens that merging never makes, without added tokens. */
static size_t n_unmade(const struct model *m)
{
    struct err e;
    struct merge *split;
    size_t n = 0;
    if (model_splits(m, &split, &e))
        return SIZE_MAX;
    for (uint32_t id = 0; id < m->n_ids; id++)
        n += m->token[id].vocab && split[id].left == MODEL_NO_ID && !model_special(m, id);
    free(split);
    return n;
}

static void write_as(struct model *m, const struct model_format *format)
{
    struct err e;
    struct model_files files = {0};
    if (model_format_check(format, m, &e) == 0)
        (void)!format->write(&files, m, &e);
    model_files_free(&files);
}

static void write_all(struct model *m)
{
    write_as(m, &format_hf_json);
    write_as(m, &format_boundless);
}

/* Changes a model in every way. A token that merging makes must stay one. */
static void change(struct model *m)
{
    struct err e;
    struct buf out = {0};
    const struct str new[] = {str_of("<new>"), str_of("he")};
    uint64_t *count = calloc((size_t)m->n_ids + 1, sizeof *count);
    size_t n = n_unmade(m);
    for (uint32_t id = 0; id < m->n_ids; id++)
        count[id] = id * 0x9E3779B1U >> 28;
    if (!model_of_characters(m) && model_prune(m, 3, count, &e) == 0 && n_unmade(m) > n)
        abort();
    free(count);
    for (size_t i = 0; i < 2; i++)
        if (!model_special_named(m, new[i]))
            (void)!model_add_special(m, &new[i], 1, 8, &e);
    n = n_unmade(m);
    if (model_cut(m, m->n_ids / 2 > 300 ? m->n_ids / 2 : 266, &e) == 0 && !m->ignore_merges && n_unmade(m) > n)
        abort();
    if (model_diff(&out, m, m, &e) == 0 && out.len)
        abort();
    buf_free(&out);
    write_all(m);
}

static void use(struct model *m)
{
    struct err e;
    size_t n;
    uint32_t first;
    unsigned sum = 0;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        for (uint32_t i = 0; i < m->token[id].len; i++)
            sum += m->token[id].p[i];
    }
    for (size_t i = 0; i < m->n_merges; i++) {
        if (m->merge[i].left >= m->n_ids || m->merge[i].right >= m->n_ids || m->merge[i].result >= m->n_ids)
            abort();
    }
    if (model_unreached(m, &n, &first, &e) == 0 && n > m->n_ids)
        abort();
    (void)!model_pattern(m);
    write_all(m);
    __asm__ volatile("" : : "r"(sum)); /* so that the bytes are read */
}

/* Rules that are read without the vocabulary must be the same as the whole model's. */
static void compare_rules(const struct model *m, const struct model *rules)
{
    bool same = rules->n_special == m->n_special && rules->n_regex == m->n_regex &&
                !strcmp(rules->pattern ? rules->pattern : "", m->pattern ? m->pattern : "");
    same = same && str_equal(m->prefix, rules->prefix) && str_equal(model_split(m), model_split(rules)) &&
           m->normalizer == rules->normalizer;
    for (size_t i = 0; same && i < m->n_special; i++) {
        const struct model_special *a = &m->special[i], *b = &rules->special[i];
        same = a->len == b->len && !memcmp(a->p, b->p, a->len) && a->special == b->special && a->id == b->id;
    }
    for (size_t i = 0; same && i < m->n_regex; i++)
        same = str_equal(m->regex[i], rules->regex[i]);
    if (!same)
        abort();
}

/* Reads the model of a file, and its rules, which the file may have without a model. */
static void read_all(const char *path, struct model_opts opts)
{
    struct model m, rules;
    struct err e = {0};
    bool whole = model_read(&m, path, &opts, &e) == 0;
    if (!whole && !e.code)
        abort();
    opts.rules_only = true;
    bool ruled = model_read(&rules, path, &opts, &e) == 0;
    if (whole && !ruled)
        abort();
    if (whole)
        compare_rules(&m, &rules);
    if (ruled)
        model_free(&rules);
    if (whole) {
        use(&m);
        change(&m);
        model_free(&m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*dir)
        prepare();
    const uint8_t *end = memchr(data, '\n', size);
    if (!end || end == data)
        return 0;
    char format = (char)data[0], path[128];
    size -= (size_t)(end + 1 - data);
    data = end + 1;
    const uint8_t *zero = format == 's' ? NULL : memchr(data, '\0', size);
    size_t n = zero ? (size_t)(zero - data) : size;
    struct buf a = {0}, b = {0};
    expand(&a, data, n, format == 't' ? LINES : format == 'm' ? TEKKEN : format == 'b' ? BOUNDLESS : MEMBERS);
    if (zero)
        expand(&b, zero + 1, size - n - 1, MEMBERS);
    fuzz_fill(&one, a.p, a.len);
    fuzz_fill(&two, b.p, b.len);
    snprintf(path, sizeof path, "%s/%s", dir,
             strchr("bjms", format) ? "json"
             : format == 'g'        ? "gpt2"
             : format == 'c'        ? "pair"
             : zero                 ? "beside.tiktoken"
                                    : "plain.tiktoken");
    read_all(path, (struct model_opts){.pattern = format == 't' && !zero ? "gpt2" : NULL});
    if (format == 'c') {
        snprintf(path, sizeof path, "%s/ranks", dir);
        read_all(path, (struct model_opts){.pattern = "gpt2"});
    }
    buf_free(&a);
    buf_free(&b);
    return 0;
}
