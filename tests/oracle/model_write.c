/* model_write.c - writes a model that is described as text, so that model_peers.py can pass the file to other programs.
 *
 *     model_write FORMAT < description > file        FORMAT: json vocab merges readable tiktoken sidecar
 *
 * The description has one item per line, in any order except that merges are ordered. Text is hexadecimal; symbols are
 * numbered as in model/model.h:
 *
 *     pattern NAME     regex HEX     special HEX     merge LEFT RIGHT     special-first     strings
 *
 * Exit status: that of the writer's error; 64 for a bad description.
 */
#include "base/io/fd.h"
#include "model/assign_ids.h"
#include "model/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    struct learned m;
    struct merge *merges;
    struct special_token *special;
    size_t merges_cap, special_cap;
    struct str *regex;
    size_t regex_cap;
};

/* Tests write descriptions: any error in one ends the program. */
static void give_up(const char *what)
{
    fprintf(stderr, "model_write: %s\n", what);
    exit(EX_USAGE);
}

/* Reads bytes in hexadecimal; never freed. */
static unsigned char *from_hex(const char *hex, size_t *len)
{
    size_t n = strspn(hex, "0123456789abcdef");
    unsigned char *p = malloc(n / 2 + 1);
    if (!p || n % 2 || hex[n])
        give_up("bad hexadecimal text");
    for (*len = 0; *len < n / 2; ++*len) {
        char pair[3] = {hex[2 * *len], hex[2 * *len + 1], '\0'};
        p[*len] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return p;
}

static int take_line(struct input *in, char *line, struct err *e)
{
    struct learned *m = &in->m;
    char *arg = strchr(line, ' ');
    if (arg)
        *arg++ = '\0';
    if (!strcmp(line, "special-first")) {
        m->special_first = true;
    } else if (!strcmp(line, "strings")) {
        m->merges_as_strings = true;
    } else if (!arg) {
        give_up("unknown line");
    } else if (!strcmp(line, "pattern")) {
        m->pattern = strdup(arg);
    } else if (!strcmp(line, "regex")) {
        if (array_grow(&in->regex, &in->regex_cap, m->n_regex + 1, sizeof *in->regex, "regexes", e))
            return -1;
        struct str *r = &in->regex[m->n_regex++];
        r->p = from_hex(arg, &r->len);
    } else if (!strcmp(line, "special")) {
        if (array_grow(&in->special, &in->special_cap, m->n_special + 1, sizeof *in->special, "special tokens", e))
            return -1;
        struct str *s = &in->special[m->n_special].text;
        in->special[m->n_special++].flags = 0;
        s->p = from_hex(arg, &s->len);
    } else if (!strcmp(line, "merge")) {
        if (array_grow(&in->merges, &in->merges_cap, m->n_merges + 1, sizeof *in->merges, "merges", e))
            return -1;
        char *end;
        struct merge *g = &in->merges[m->n_merges++];
        g->left = (uint32_t)strtoul(arg, &end, 10);
        g->right = (uint32_t)strtoul(end, NULL, 10);
        if (g->left >= 255 + m->n_merges || g->right >= 255 + m->n_merges)
            give_up("a merge of symbols that do not exist yet");
    } else {
        give_up("unknown line");
    }
    return 0;
}

static int read_model(struct input *in, struct err *e)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int rc = 0;
    while (!rc && (n = getline(&line, &cap, stdin)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        rc = take_line(in, line, e);
    }
    free(line);
    in->m.merges = in->merges;
    in->m.special = in->special;
    in->m.regex = in->regex;
    if (!in->m.pattern && !in->m.n_regex)
        give_up("neither pattern nor regex");
    return rc;
}

/* The file of a format whose name ends with a suffix. */
static int write_model(const char *what, const struct learned *l, struct buf *out, struct err *e)
{
    static const struct {
        const char *what, *format, *suffix;
    } all[] = {{"json", "json", ""},       {"vocab", "gpt2", "/vocab.json"}, {"merges", "gpt2", "/merges.txt"},
               {"readable", "merges", ""}, {"tiktoken", "tiktoken", ""},     {"sidecar", "tiktoken", ".json"}};
    struct model_files files = {.alone = !strcmp(what, "tiktoken")};
    const struct model_format *f;
    struct model m;
    size_t i = 0, k = 0;
    while (i < sizeof all / sizeof *all && strcmp(what, all[i].what) != 0)
        i++;
    if (i == sizeof all / sizeof *all)
        give_up("unknown format");
    while ((f = model_format_at(k)) && strcmp(f->name, all[i].format) != 0)
        k++;
    if (!f)
        give_up("unknown format");
    if (assign_ids(&m, l, f, e))
        return -1;
    int rc = f->write(&files, &m, e);
    for (k = 0; k < files.n && !rc; k++)
        if (!strcmp(files.file[k].suffix, all[i].suffix))
            rc = buf_put(out, files.file[k].bytes.p, files.file[k].bytes.len, e);
    model_files_free(&files);
    model_free(&m);
    return rc;
}

int main(int argc, char **argv)
{
    static struct input in; /* static, so that its memory remains reachable, and is not reported as a leak */
    struct buf out = {0};
    struct err e = {0};
    if (argc != 2)
        give_up("usage: model_write FORMAT < description");
    int rc = read_model(&in, &e) || write_model(argv[1], &in.m, &out, &e) ||
             fd_write(1, out.p, out.len, "standard output", &e) || fd_close_stdout(&e);
    if (rc)
        fprintf(stderr, "model_write: %s\n", e.msg);
    buf_free(&out);
    return rc ? e.code : 0;
}
