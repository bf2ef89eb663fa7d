/* formats.h - the formats of models: a table, a row for each.
 *
 * A row says by what a format is known, and has the functions that read and write it; all else (options and their
 * messages, looking for files, writing them) works from the rows. To add a format, write format_NAME.c, which defines
 * format_NAME, and add NAME to the list at the end of this page.
 */
#ifndef BPE_MODEL_FORMATS_H
#define BPE_MODEL_FORMATS_H

#include "core/model.h"
#include "core/pattern.h"
#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>

/* What there is to read. All borrowed but head. */
struct model_source {
    const char *path; /* of the file ("-": standard input) or directory */
    bool is_directory;
    const char *name;              /* of the file, for messages */
    int fd;                        /* of the file, after head; -1 where sniff_path knew the format */
    struct buf head;               /* the file's first bytes, then zeros; owned: read may take it */
    const struct pattern *pattern; /* by the command line, for a file that does not say it; or NULL */
    const char *const *special;    /* the same: "TOKEN" or "TOKEN=ID" */
    size_t n_special;
};

/* What is to be written: one file or more, the last of which says that the others are there, too. */
struct model_files {
    bool alone; /* no more than one file can be written: that without a suffix */
    size_t n;
    struct model_file {
        const char *suffix; /* static: what follows the path; "/name" is a file in a directory of this path */
        struct buf bytes;
    } file[2];
};

struct model_format {
    const char *name; /* as -f and --info say it */

    /* Reading. A format that is never read has none of these. */
    const char *content;      /* what a file of it is, for messages; NULL: not known by a file's content */
    const char *in_directory; /* what a directory holds that is a model of it, for messages; NULL: nothing */
    const char *file;         /* the one file that a directory is read for; NULL: see sniff_path */
    /* Whether the name of a file, or what is in a directory, says that it is of this format: 1, 0, or -1: out of
     * memory. Nothing is open yet. NULL: never. */
    int (*sniff_path)(const struct model_source *from, struct err *e);
    /* Whether a file begins so: with these bytes (after blanks, not empty), followed by zeros. NULL: never. */
    bool (*sniff)(const unsigned char *p, size_t n);
    /* Fills *m, which is to be freed after failure, too; format and dialect are set by the caller. -1: EX_DATAERR,
     * EX_USAGE (the source's options are not for this file), EX_NOINPUT, EX_IOERR, EX_OSERR. */
    int (*read)(struct model *m, struct model_source *from, struct err *e);

    /* Writing. */
    /* Makes a model that was read, from whatever format, one that this format can say, with the same ids: merges for
     * ranks, or the other way whether ranks say the same as the merges. (A model from assign_ids is one.) -1 with
     * EX_USAGE: the format cannot say what the model is; the message says why. */
    int (*check)(struct model *m, struct err *e);
    /* Adds the files (model_files_add). -1: EX_OSERR, or EX_USAGE as check. */
    int (*write)(struct model_files *to, const struct model *m, struct err *e);
    enum pattern_dialect dialect; /* how the regexes that it has are read, by others too */
    bool is_directory;            /* the path is that of a directory; else of a file, or standard output */
    const char *implied;          /* the pattern that readers assume, as the format does not say it; else NULL */
    bool has_merge_forms;         /* merges are arrays or strings (merges_as_strings) */
    bool has_ids;                 /* else it is nothing but merges, and the order of ids does not matter */
    bool special_first;           /* special tokens have the first ids if nothing else is said */
    bool special_apart; /* special tokens are a map of their own: one that looks like a token has an id of its own, and
                           they come after all tokens */
};

/* The i-th format, or NULL past the last. Static. */
const struct model_format *model_format_at(size_t i);

/* The names of the formats in the same order, ending with NULL. Static. */
const char *const *model_format_names(void);

/* One more file, empty; suffix is static. */
struct buf *model_files_add(struct model_files *f, const char *suffix);
void model_files_free(struct model_files *f);

/* The rows, in the order that -f names them. A file is read as the first format whose sniff takes it: a format whose
 * files another's sniff would take as well stands before that one. */
#define MODEL_FORMATS(X)                                                                                               \
    X(hf_json)                                                                                                         \
    X(gpt2)                                                                                                            \
    X(tiktoken)                                                                                                        \
    X(merges)

#define MODEL_FORMAT_DECLARE(name) extern const struct model_format format_##name;
MODEL_FORMATS(MODEL_FORMAT_DECLARE)
#undef MODEL_FORMAT_DECLARE

#endif
