/* model_write.c - writes a model described as text, so that model_peers.py can give the file to its readers.
 *
 *     model_write FORMAT < description > file        FORMAT: json vocab merges readable tiktoken sidecar
 *
 * A line each, in any order but merges in theirs; text is in hexadecimal, symbols are numbered as in model.h:
 *
 *     pattern NAME     regex HEX     special HEX     merge LEFT RIGHT     special-first     strings
 *
 * Exit status: that of the writer's error, 64 for a bad description.
 */
#include "model/model_write.h"
#include "io/fd.h"
#include "model/assign_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    struct trained m;
    struct trained_merge *merges;
    struct str *special;
    size_t merges_cap, special_cap;
    struct str *regex;
    size_t regex_cap;
};

/* A description is written by a test: whatever is wrong with it ends the program. */
static void give_up(const char *what)
{
    fprintf(stderr, "model_write: %s\n", what);
    exit(EX_USAGE);
}

/* Bytes of hexadecimal digits, never freed. */
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
    struct trained *m = &in->m;
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
        struct str *s = &in->special[m->n_special++];
        s->p = from_hex(arg, &s->len);
    } else if (!strcmp(line, "merge")) {
        if (array_grow(&in->merges, &in->merges_cap, m->n_merges + 1, sizeof *in->merges, "merges", e))
            return -1;
        char *end;
        struct trained_merge *g = &in->merges[m->n_merges++];
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

static int write_model(const char *format, const struct trained *t, struct buf *out, struct err *e)
{
    static const char *const names[] = {"json", "vocab", "merges", "readable", "tiktoken", "sidecar"};
    static const enum model_format kinds[] = {MODEL_JSON,   MODEL_GPT2,     MODEL_GPT2,
                                              MODEL_MERGES, MODEL_TIKTOKEN, MODEL_TIKTOKEN};
    int (*const put[])(struct buf *, const struct model *, struct err *) = {
        model_put_json, model_put_vocab, model_put_merges, model_put_readable, model_put_tiktoken};
    struct model m;
    struct buf ranks = {0};
    size_t i = 0;
    while (i < 6 && strcmp(format, names[i]) != 0)
        i++;
    if (i == 6)
        give_up("unknown format");
    if (trained_model(&m, t, kinds[i], e))
        return -1;
    int rc = i < 5 ? put[i](out, &m, e) : model_put_tiktoken(&ranks, &m, e) || model_put_sidecar(out, &m, &ranks, e);
    buf_free(&ranks);
    model_free(&m);
    return rc ? -1 : 0;
}

int main(int argc, char **argv)
{
    static struct input in; /* what it points to is reachable to the end: no leak */
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
