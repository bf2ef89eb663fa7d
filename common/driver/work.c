/* work.c - see work.h. */
#include "driver/work.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "driver/resume.h"
#include "usage/chunk_usage.h"
#include "usage/encode_usage.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void free_parts(struct work *w)
{
    for (size_t i = 0; i < w->n_parts; i++) {
        free(w->parts[i].name);
        free(w->parts[i].file);
        free(w->parts[i].weight);
        free(w->parts[i].made);
        buf_free(&w->parts[i].why);
    }
    free(w->parts);
    w->parts = NULL;
    w->n_parts = w->cap = 0;
}

static int find_results(struct work *w, struct err *e)
{
    free(w->results);
    w->results = fd_path(w->dir, w->encodes ? "tokens" : "counts", e);
    return w->results ? 0 : -1;
}

int work_open(struct work *w, struct err *e)
{
    char here[PATH_MAX];
    w->lock = -1;
    w->chunks = fd_path(w->dir, "chunks", e);
    w->sum_path = fd_path(w->dir, "sum", e);
    if (!w->chunks || !w->sum_path || find_results(w, e))
        return -1;
    if (*w->dir != '/' && !getcwd(here, sizeof here))
        return err_sys(e, EX_OSERR, errno, "cannot determine the current directory");
    w->absolute = *w->dir == '/' ? strdup(w->chunks) : fd_path(here, w->chunks, e);
    return w->absolute ? 0 : err_mem(e, "a file name", strlen(w->chunks));
}

void work_close(struct work *w)
{
    free_parts(w);
    job_close(&w->lock);
    free(w->chunks);
    free(w->results);
    free(w->sum_path);
    free(w->where);
    free(w->absolute);
}

/* ---- Planning ---- */

/* The files that a model may consist of: its name with these suffixes. */
static const char *const model_files[] = {
    "", ".json", "/tokenizer.json", "/vocab.json", "/merges.txt", "/encoder.json", "/vocab.bpe", NULL};

typedef int each_file(void *ctx, const char *name, struct err *e);

/* Calls `each` for all files that a model may consist of. */
static int each_of_model(const char *model, each_file *each, void *ctx, struct err *e)
{
    struct buf name = {0};
    int rc = 0;
    for (size_t i = 0; model_files[i] && rc == 0; i++) {
        name.len = 0;
        rc = buf_put_str(&name, model, e) || buf_put_str(&name, model_files[i], e) || buf_put_byte(&name, '\0', e) ||
                     each(ctx, (const char *)name.p, e)
                 ? -1
                 : 0;
    }
    buf_free(&name);
    return rc;
}

/* Calls `each` for the files that the worker's options name: those of the model, and the live pairs. */
static int each_model_file(const struct work *w, each_file *each, void *ctx, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < w->worker.n && rc == 0; i++) {
        const char *word = w->worker.at[i], *value = strchr(word, '=');
        if (option_word_is(word, "model"))
            rc = each_of_model(value + 1, each, ctx, e);
        else if (option_word_is(word, "runs") || option_word_is(word, "among"))
            rc = each(ctx, value + 1, e);
    }
    return rc;
}

static int note_model_file(void *ctx, const char *name, struct err *e)
{
    struct buf *inputs = ctx;
    struct stat st;
    char *file = (char *)(uintptr_t)name;
    return stat(name, &st) == 0 && S_ISREG(st.st_mode) ? resume_put_inputs(inputs, &file, 1, false, e) : 0;
}

static int check_model_file(void *ctx, const char *name, struct err *e)
{
    const struct work *w = ctx;
    return resume_compare_input(w->dir, w->chunks, w->where, name, e);
}

int work_check_model(struct work *w, struct err *e)
{
    return each_model_file(w, check_model_file, w, e);
}

int work_begin(struct work *w, int *status, struct err *e)
{
    struct buf asked = {0}, inputs = {0};
    struct command_line files = {0};
    char why[200], *standard[] = {"-", NULL};
    struct stat st;
    snprintf(why, sizeof why, ", so %s could not resume after a failure; put the text into a file", w->user);
    int rc = resume_put_inputs(&inputs, w->files, w->n_files, w->options->parquet, e) ||
                     resume_only_regular(w->n_files ? w->files : standard, w->n_files ? w->n_files : 1, why, e) ||
                     each_model_file(w, note_model_file, &inputs, e) ||
                     (w->options->weights.n && command_line_texts(&files, w->options, w->files, w->n_files, e)) ||
                     resume_put_asked(&asked, &w->options->reader, &w->chunk, (const char *const *)w->worker.at + 1,
                                      w->worker.n - 1, files.n ? (char **)(uintptr_t)files.words : w->files,
                                      files.n ? (int)files.n : w->n_files, e)
                 ? -1
                 : 0;
    int missing = rc == 0 && stat(w->chunks, &st) < 0 ? work_check_reader(w, e) : 0;
    if (missing) { /* before anything is created */
        *status = missing > 0 ? missing : 0;
        rc = -1;
    }
    if (rc == 0 && (w->lock = resume_lock_file(w->job, w->dir, "lock", e)) < 0)
        rc = -1;
    if (rc == 0)
        rc = stat(w->chunks, &st) < 0 ? work_make(w, buf_str(&asked), buf_str(&inputs), status, e)
                                      : resume_compare(w->dir, w->chunks, buf_str(&asked), buf_str(&inputs), e);
    rc = rc || durable_make_directory(w->results, e) ? -1 : 0;
    command_line_free(&files);
    buf_free(&asked);
    buf_free(&inputs);
    return rc;
}

/* ---- Reading a plan: the directory is not trusted, so only words that planning would have written are accepted ----
 */

static int not_planned(const struct work *w, const char *name, const char *word, struct err *e)
{
    return err_set(e, EX_DATAERR, "%s/%s: '%s': unexpected contents; plan the work again, in another directory",
                   w->chunks, name, word);
}

/* Reads words from a file of DIR/chunks. */
static int read_words(const struct work *w, const char *name, struct option_words *to, struct err *e)
{
    struct buf b = {0};
    char *path = fd_path(w->chunks, name, e);
    int rc = path ? resume_only_file(path, e) : -1;
    if (rc == 0 && (fd_read_file(path, &b, e) || buf_put_byte(&b, '\0', e)))
        rc = err_set(e, EX_IOERR, "%s: cannot be read; plan the work again, in another directory", path);
    for (size_t at = 0; rc == 0 && at + 1 < b.len; at += strlen((const char *)b.p + at) + 1)
        rc = option_words_add(to, e, "%s", (const char *)b.p + at);
    buf_free(&b);
    free(path);
    return rc ? -1 : 0;
}

/* Reads a file of one word. NULL: an error. Owned by the caller. */
static char *read_word(const struct work *w, const char *name, struct err *e)
{
    struct option_words words = {0};
    char *word = NULL;
    if (read_words(w, name, &words, e) == 0) {
        if (words.n == 1 && !(word = strdup(words.at[0])))
            err_mem(e, "a word", strlen(words.at[0]));
        else if (words.n != 1)
            not_planned(w, name, words.n ? words.at[1] : "", e);
    }
    option_words_free(&words);
    return word;
}

static bool is_option_of(const char *word, const struct option_row *rows)
{
    for (const struct option_row *r = rows; r->name; r++) {
        if (option_word_is(word, r->name))
            return r->kind != OPTION_REFUSED;
    }
    return false;
}

/* Checks that each word from index `first` on is an option of a program (rows) but not one of `names`; without rows,
 * that it is one of `names`. names ends with NULL. */
static int only_options(const struct work *w, const char *file, const struct option_words *words, size_t first,
                        const struct option_row *rows, const char *const *names, struct err *e)
{
    for (size_t i = first; i < words->n; i++) {
        const char *word = words->at[i];
        if (rows ? !is_option_of(word, rows) || option_word_in(word, names) : !option_word_in(word, names))
            return not_planned(w, file, word, e);
    }
    return 0;
}

/* Reads the worker: bpe-count, or bpe-encode and its options. */
static int read_worker(struct work *w, struct err *e)
{
    static const char *const other[] = {"format", "output", "files-from", "files0-from", NULL};
    static const char *const of_count[] = {"model", "pairs", "among", "runs", NULL};
    if (read_words(w, "worker", &w->worker, e))
        return -1;
    const char *program = w->worker.n ? w->worker.at[0] : "";
    w->encodes = strcmp(program, "bpe-encode") == 0;
    if (!w->encodes && strcmp(program, "bpe-count") != 0)
        return not_planned(w, "worker", program, e);
    if (w->encodes ? only_options(w, "worker", &w->worker, 1, encode_usage.options, other, e)
                   : only_options(w, "worker", &w->worker, 1, NULL, of_count, e))
        return -1;
    return find_results(w, e);
}

int work_read(struct work *w, struct err *e)
{
    static const char *const not_of_chunk[] = {"only",         "dealt",  "files-from", "files0-from",
                                               "input-status", "weight", NULL};
    static const char *const of_parquet[] = {"column", "nul-bytes", "null-rows", NULL};
    struct stat st;
    if (stat(w->chunks, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, EX_NOINPUT, "%s: has no work; create it with bpe tasks plan -o %s", w->dir, w->dir);
    if (resume_only_file(w->sum_path, e) || read_worker(w, e) || read_words(w, "chunk", &w->chunk, e) ||
        only_options(w, "chunk", &w->chunk, 0, chunk_usage.options, not_of_chunk, e) ||
        read_words(w, "parquet", &w->options->reader, e) ||
        only_options(w, "parquet", &w->options->reader, 0, NULL, of_parquet, e) ||
        !(w->where = read_word(w, "where", e)))
        return -1;
    if (*w->where != '/')
        return not_planned(w, "where", w->where, e);
    w->options->parquet = w->options->reader.n > 0;
    w->options->mixed = false;
    for (size_t i = 0; i < w->chunk.n; i++)
        w->options->mixed |= w->options->parquet && source_options_word_form(w->chunk.at[i]);
    return 0;
}

/* ---- Parts ---- */

/* Reads the file name and the weight of a part. The file must be among those that the command names, if it names any.
 */
static int read_file_name(const struct work *w, struct work_part *p, struct err *e)
{
    struct option_words words = {0};
    struct err ignored;
    bool known = w->n_files == 0;
    int rc = read_words(w, p->name, &words, e);
    if (rc == 0 && (words.n == 0 || words.n > 2 || (words.n == 2 && weight_option_word(words.at[1], NULL, &ignored))))
        rc = not_planned(w, p->name, words.n ? words.at[words.n - 1] : "", e);
    for (int i = 0; i < w->n_files && rc == 0; i++)
        known |= strcmp(w->files[i], words.at[0]) == 0;
    if (rc == 0 && !(known && resume_may_be_read_again(words.at[0])))
        rc = not_planned(w, p->name, words.at[0], e);
    if (rc == 0 && (!(p->file = strdup(words.at[0])) || (words.n == 2 && !(p->weight = strdup(words.at[1])))))
        rc = err_mem(e, "a word", strlen(words.at[0]));
    option_words_free(&words);
    return rc;
}

static int add_part(struct work *w, const char *name, struct err *e)
{
    struct stat st;
    const char *digits = strchr(name, '.') + 1;
    if (!*digits || digits[strspn(digits, "0123456789")])
        return not_planned(w, "", name, e);
    if (array_grow(&w->parts, &w->cap, w->n_parts + 1, sizeof *w->parts, "parts", e))
        return -1;
    struct work_part *p = &w->parts[w->n_parts];
    *p = (struct work_part){.name = strdup(name)};
    if (!p->name)
        return err_mem(e, "a name", strlen(name));
    w->n_parts++;
    char *result = fd_path(w->results, name, e);
    p->done = result && lstat(result, &st) == 0 && /* an empty one was lost by the file system */
              !(S_ISREG(st.st_mode) && st.st_size == 0);
    int rc = !result || (p->done && resume_only_file(result, e)) ? -1 : 0;
    free(result);
    if (rc == 0 && !p->done && *name == 'f')
        rc = read_file_name(w, p, e);
    return rc;
}

/* Parts of records first, because their failures take precedence. */
static int by_order(const void *a, const void *b)
{
    const struct work_part *p = a, *q = b;
    return *p->name != *q->name ? *q->name - *p->name : strcmp(p->name, q->name);
}

int work_find_parts(struct work *w, struct err *e)
{
    DIR *dir = opendir(w->chunks);
    int rc = dir ? 0 : err_sys(e, EX_IOERR, errno, "%s: cannot open", w->chunks);
    free_parts(w);
    for (const struct dirent *d; rc == 0 && (d = readdir(dir));) {
        if (strncmp(d->d_name, "part.", 5) == 0 || strncmp(d->d_name, "file.", 5) == 0)
            rc = add_part(w, d->d_name, e);
    }
    if (dir)
        closedir(dir);
    if (rc == 0 && w->n_parts == 0)
        rc = err_set(e, EX_IOERR, "%s: cannot be read, or was not made by bpe tasks plan", w->chunks);
    if (w->n_parts)
        qsort(w->parts, w->n_parts, sizeof *w->parts, by_order);
    return rc;
}
