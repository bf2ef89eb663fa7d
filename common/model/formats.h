/* formats.h - the table of model formats.
 *
 * A row describes how a format is recognized, and has the functions that read and write it; all other code (options and
 * their messages, finding files, writing them) uses the rows. To add a format, write format_NAME.c, which defines
 * format_NAME, and add NAME to the list at the end of this file.
 */
#ifndef BPE_MODEL_FORMATS_H
#define BPE_MODEL_FORMATS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"
#include "model/model_file.h"
#include "pretok/pattern.h"

#include <stdbool.h>
#include <stddef.h>

/* The input of a reader. All borrowed except head. */
struct model_source {
    const char *path; /* of the file ("-": standard input) or directory */
    bool is_directory;
    bool inside;      /* the file was found in a directory that is the model: the files beside it belong to it */
    const char *name; /* of the file, for messages */
    int fd;           /* of the file, positioned after head; -1 if sniff_path recognized the format */
    struct buf head;  /* the file's first bytes, then zeros; owned; `read` may take it */
    const struct pattern *pattern; /* from the command line, for a file that does not contain one; or NULL */
    const char *pattern_name;      /* as given there: in some files an alias means another pattern */
    const char *const *special;    /* also from the command line: "TOKEN" or "TOKEN=ID" */
    size_t n_special;
    bool rules_only; /* see struct model_opts */
};

struct model_format {
    const char *name; /* in -f (if the format can be written) and --info */

    /* Reading. For a format that is only written, these are NULL. */
    const char *content;      /* describes a file of this format, for messages; NULL: not recognized by its content */
    const char *in_directory; /* describes a directory with such a model, for messages; NULL: never in a directory */
    const char *const *files; /* the first of these files that exists in a directory is read, whatever its format; ended
                                 by NULL; NULL: see sniff_path */
    /* Whether the name of a file, or the files in a directory, show that it is in this format: 1, 0, or -1: out of
     * memory. Nothing is open yet. NULL: never. */
    int (*sniff_path)(const struct model_source *from, struct err *e);
    /* Whether a file that begins with these bytes (leading blanks skipped, unless is_binary; not empty, zeros follow)
     * is in this format. NULL: never. */
    bool (*sniff)(const unsigned char *p, size_t n);
    bool is_binary;
    /* Fills *m; model_free also after failure; the caller sets format and dialect. -1: EX_DATAERR, EX_USAGE (the
     * source's options do not apply to this file), EX_NOINPUT, EX_IOERR, EX_OSERR. */
    int (*read)(struct model *m, struct model_source *from, struct err *e);

    /* Writing. For a format that is only read, these are NULL or false, except dialect. */
    /* Turns a model that was read, from any format, into one that this format can express, with the same ids: makes
     * merges from ranks, or checks that ranks are equivalent to the merges. (A model from assign_ids can be written
     * without it.) -1 with EX_USAGE: the format cannot express the model; the message says why. */
    int (*check)(struct model *m, struct err *e);
    /* Adds the files (model_files_add). -1: EX_OSERR, or EX_USAGE as for check. */
    int (*write)(struct model_files *to, const struct model *m, struct err *e);
    enum pattern_dialect dialect; /* the regex engine that reads its regexes, also in other programs */
    bool is_directory;            /* the path is that of a directory; otherwise of a file, or standard output */
    const char *implied;          /* the pattern that readers assume because the format cannot name one; else NULL */
    bool names_eos;               /* it names the tokens that end a text and pad (model_eos, model_pad) */
    bool beside_eos;              /* a second file, if there is a path, names them unless readers assume them */
    bool drops_gaps;              /* readers drop text that the regex does not match */
    bool all_special;             /* it cannot mark an added token as not special */
    bool has_merge_forms;         /* merges can be arrays or strings (merges_as_strings) */
    bool has_characters;          /* it can express models of characters */
    bool has_superwords;          /* it can express models with superwords */
    bool has_ids;                 /* false: it has only merges, so the order of ids does not matter */
    bool special_first;           /* by default special tokens have the first ids */
    bool special_apart; /* special tokens are a separate map: one with the text of another token has its own id, and
                           they follow all tokens */
};

/* The i-th format, or NULL past the last. Static. */
const struct model_format *model_format_at(size_t i);

/* Turns a model that was read into one that the format can express: the checks common to all formats, then its `check`.
 * -1 as there. */
int model_format_check(const struct model_format *f, struct model *m, struct err *e);

/* The names of the formats that can be written, in the same order, ended by NULL. Static. */
const char *const *model_format_names(void);

/* Checks that neither a pattern nor special tokens were given for a file, described by `what`, that contains both. -1:
 * EX_USAGE. */
static inline int model_source_says_all(const struct model_source *from, const char *what, struct err *e)
{
    if (!from->pattern && !from->n_special)
        return 0;
    return err_set(e, EX_USAGE, "%s: a %s contains its own %s: leave out %s", from->name, what,
                   from->pattern ? "pattern" : "special tokens", from->pattern ? "-p" : "-s");
}

/* The rows, in the order in which -f lists them; those that are only read come last. A file is read as the first format
 * whose sniff accepts it, and a directory as the first format with a file in it. */
#define MODEL_FORMATS(X)                                                                                               \
    X(hf_json)                                                                                                         \
    X(gpt2)                                                                                                            \
    X(tiktoken)                                                                                                        \
    X(hf_dir)                                                                                                          \
    X(merges)                                                                                                          \
    X(boundless)                                                                                                       \
    X(tekken)                                                                                                          \
    X(sentencepiece)

#define MODEL_FORMAT_DECLARE(name) extern const struct model_format format_##name;
MODEL_FORMATS(MODEL_FORMAT_DECLARE)
#undef MODEL_FORMAT_DECLARE

#endif
