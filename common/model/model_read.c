/* model_read.c - which format a model is in: by what is there and by how it begins, not by a file's ending. */
#include "model/model_read.h"

#include "io/fd.h"
#include "model/model_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* GPT-2's pairs: as Hugging Face names them, and as OpenAI does. */
static const struct {
    const char *vocab, *merges;
} pairs[] = {{"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}};

enum { N_PAIRS = sizeof pairs / sizeof *pairs };

/* ---- Names ---- */

/* dir (up to its last slash, if `beside`), a slash, and name; freed by the caller. NULL: out of memory. */
static char *join(const char *dir, bool beside, const char *name, struct err *e)
{
    const char *slash = strrchr(dir, '/');
    size_t n = beside ? (slash ? (size_t)(slash - dir) + 1 : 0) : strlen(dir);
    char *path = malloc(n + strlen(name) + 2);
    if (!path) {
        err_mem(e, "a file name", n);
        return NULL;
    }
    memcpy(path, dir, n);
    if (n && path[n - 1] != '/')
        path[n++] = '/';
    strcpy(path + n, name);
    return path;
}

/* ---- One file ---- */

static bool starts(const struct buf *b, const char *with)
{
    return b->len >= strlen(with) && !memcmp(b->p, with, strlen(with));
}

static int read_by_content(struct model *m, int fd, const char *path, struct buf *head, const struct model_opts *opts,
                           struct err *e)
{
    const char *name = fd_name(path);
    size_t at = head->len ? strspn((const char *)head->p, " \t\r\n") : 0;
    if (at == head->len)
        return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "empty; no model is in it");
    if (head->p[at] == '{') {
        if (opts && (opts->pattern || opts->n_special))
            return err_set(e, EX_USAGE, "%s: a tokenizer.json says its %s itself: leave out %s", name,
                           opts->pattern ? "pattern" : "special tokens", opts->pattern ? "-p" : "-s");
        return model_read_json(m, fd, name, head, e);
    }
    if (starts(head, "#version"))
        return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                      "a list of merges; it must be called merges.txt, with vocab.json beside it");
    if (starts(head, "\x1F\x8B") || starts(head, "\x28\xB5\x2F\xFD"))
        return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "compressed; decompress it first");
    /* `base64 rank`? */
    const char *line = (const char *)head->p + at;
    size_t word = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
    size_t rank = word && line[word] == ' ' ? strspn(line + word + 1, "0123456789") : 0;
    if (!rank || (line[word + 1 + rank] != '\n' && at + word + 1 + rank < head->len))
        return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "not a model: neither tokenizer.json nor ranks in base64%s",
                      memchr(line, ' ', strcspn(line, "\n"))
                          ? " (a list of merges alone has neither ids nor pattern: use -f json instead)"
                          : "");
    char *sidecar = NULL;
    if (strcmp(path, "-") != 0) {
        sidecar = malloc(strlen(path) + sizeof ".json");
        if (!sidecar)
            return err_mem(e, "a file name", strlen(path));
        strcat(strcpy(sidecar, path), ".json");
    }
    int rc = model_read_tiktoken(m, fd, name, head, sidecar, opts, e);
    free(sidecar);
    return rc;
}

static int read_file(struct model *m, const char *path, const struct model_opts *opts, struct err *e)
{
    struct buf head = {0};
    int fd = fd_open_input(path, e);
    if (fd < 0)
        return -1;
    int rc = model_file_head(fd, fd_name(path), &head, e) || read_by_content(m, fd, path, &head, opts, e) ? -1 : 0;
    buf_free(&head);
    close(fd);
    return rc;
}

/* ---- A pair ---- */

static int read_pair(struct model *m, const char *path, bool beside, size_t pair, const struct model_opts *opts,
                     struct err *e)
{
    char *vocab = join(path, beside, pairs[pair].vocab, e),
         *merges = vocab ? join(path, beside, pairs[pair].merges, e) : NULL;
    int rc = -1;
    if (merges && opts && opts->n_special)
        err_set(e, EX_USAGE, "%s: vocab.json has the special tokens: leave out -s", path);
    else if (merges)
        rc = model_read_gpt2(m, vocab, merges, opts, e);
    free(vocab);
    free(merges);
    return rc;
}

/* 1: it is there; 0: not; -1: out of memory. */
static int is_there(const char *path, bool beside, const char *name, struct err *e)
{
    char *file = join(path, beside, name, e);
    int rc = file ? access(file, F_OK) == 0 : -1;
    free(file);
    return rc;
}

/* Which pair is in the directory, or (beside) has the file at path as one of the two; N_PAIRS: none; -1: out of memory.
 */
static int find_pair(const char *path, bool beside, struct err *e)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (int i = 0; i < N_PAIRS; i++) {
        if (beside && strcmp(name, pairs[i].vocab) != 0 && strcmp(name, pairs[i].merges) != 0)
            continue;
        int vocab = is_there(path, beside, pairs[i].vocab, e), merges = is_there(path, beside, pairs[i].merges, e);
        if (vocab < 0 || merges < 0)
            return -1;
        if (vocab && merges)
            return i;
    }
    return N_PAIRS;
}

static int read_dir(struct model *m, const char *path, const struct model_opts *opts, struct err *e)
{
    static const char json[] = "tokenizer.json";
    int pair = 0, has_json = is_there(path, false, json, e);
    if (has_json < 0 || (!has_json && (pair = find_pair(path, false, e)) < 0))
        return -1;
    if (!has_json && pair == N_PAIRS)
        return err_set(e, EX_NOINPUT, "%s: a directory without tokenizer.json, and without vocab.json and merges.txt",
                       path);
    if (!has_json)
        return read_pair(m, path, false, (size_t)pair, opts, e);
    char *file = join(path, false, json, e);
    int rc = file ? read_file(m, file, opts, e) : -1;
    free(file);
    return rc;
}

int model_read(struct model *m, const char *path, const struct model_opts *opts, struct err *e)
{
    struct stat st;
    int rc, pair;
    *m = (struct model){0};
    if (strcmp(path, "-") != 0 && !stat(path, &st) && S_ISDIR(st.st_mode))
        rc = read_dir(m, path, opts, e);
    else if ((pair = find_pair(path, true, e)) < 0)
        rc = -1;
    else if (pair < N_PAIRS)
        rc = read_pair(m, path, true, (size_t)pair, opts, e);
    else
        rc = read_file(m, path, opts, e);
    if (rc)
        model_free(m);
    return rc;
}
