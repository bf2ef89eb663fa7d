/* formats.h - the formats of shards: a table with one row for each, and one file for each (format_NAME.c).
 *
 * shard_writer writes the ids into a file (after room for a header) and, for formats that ask for it, the documents
 * into a table (docs_table.h). When the shard has all its ids, the format writes header and index files from them.
 * Nothing grows with the shard in memory.
 */
#ifndef BPE_SHARD_FORMAT_FORMATS_H
#define BPE_SHARD_FORMAT_FORMATS_H

#include "shard/format/docs_table.h"
#include "shard/format/document.h"
#include "shard/format/manifest.h"
#include "shard/format/shard_plan.h"

#include <stdbool.h>
#include <stdint.h>

/* A shard whose ids are all written. */
struct shard_build {
    const struct shard_plan *plan;
    const struct manifest *manifest; /* the facts about the model */
    const char *dir;                 /* where temporary files are made: DIR/.work */
    int fd;                          /* of the data file, for reading */
    const char *path;                /* of the data file, a temporary one in dir, for messages */
    uint64_t tokens;
    uint64_t documents; /* rows of the table */
    int docs; /* descriptor of the table, positioned anywhere, for docs_reader_init(docs, docs_path, docs_bytes) */
    const char *docs_path;
    uint64_t docs_bytes;
    unsigned split;
    uint64_t number;
    /* Results: the files of the shard that finish made, by shard_build_file. made[0] NULL: file 0 is the data file. The
     * final names are shard_format.file_name(i). */
    char *made[SHARD_FILES]; /* paths (owned) */
    size_t n_files;          /* file 0 included: 1 before finish */
};

/* Creates a file in b->dir for file i of the shard, sets b->made[i] and n_files, and returns its descriptor for
 * writing; i is n_files, or 0. -1 with EX_CANTCREAT. The shard's finish closes it, whoever called that syncs it. */
int shard_build_file(struct shard_build *b, size_t i, struct err *e);

enum { SHARD_HEADER_MAX = 1024 };

struct shard_format {
    const char *name;
    bool whole;    /* documents are whole in a shard: it ends after the first that brings it to its number of ids */
    bool has_docs; /* always has the tables of documents that --docs asks for (dolma) */
    bool no_empty; /* documents without ids are left out (document_filter.h) */
    bool no_lone_separator; /* a separator put after a document without ids is left out */
    size_t n_files;         /* of a shard, without the table of documents */
    size_t header;          /* bytes before the ids in the data file, at most SHARD_HEADER_MAX */
    uint64_t most_tokens;   /* in a shard; UINT64_MAX: any number */

    /* Writes the header of a shard with this number of ids: `header` bytes. NULL if there is none. */
    void (*put_header)(unsigned char *to, const struct shard_plan *p, uint64_t tokens);

    /* -d auto for a vocabulary of that size (0: not known). */
    enum shard_dtype (*dtype)(uint64_t vocabulary);
    /* Whether the format has ids of the plan's type, and shards of its size; NULL: always. -1 with EX_USAGE. Called by
     * shard_plan_check_ids. */
    int (*check)(const struct shard_plan *p, uint64_t vocabulary, struct err *e);

    /* The final name, relative to DIR, of file i of a shard (0: ids; 1 ...: index files; the table of documents comes
     * after them, see shard_docs_name). May have one directory in it. `to` holds n bytes. */
    void (*file_name)(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i);

    /* The same for the file of the whole directory that finish_all makes for a split. NULL: there is none. */
    void (*extra_name)(char *to, size_t n, const struct shard_plan *p, unsigned split);

    /* Makes the index files; a file 0 that it makes replaces the data file. May be called again for the same shard
     * after a death, and then makes the same files again. NULL: the data file with its header is all. */
    int (*finish)(struct shard_build *b, struct err *e);

    /* Makes these files when all shards are there, for each manifest_has_split, the one for tests first; may be NULL.
     * Writes them under dir (temporary file, rename) and adds them to m->extra. */
    int (*finish_all)(struct manifest *m, const char *dir, struct err *e);

    /* Passes all documents of a shard of DIR to a sink; checks what the format says of itself (header, sizes, index)
     * on the way: EX_DATAERR with file and place. whole: each document begins and ends here; else the first may
     * continue one from the shard before and the last may go on: then begin is not called, or end is not called. */
    int (*read)(const struct manifest *m, const struct manifest_shard *s, const char *dir, struct document_sink *sink,
                struct err *e);
};

/* NAME[_SPLIT]_NUMBER (six digits; without a split in the plan not _SPLIT, with -n 0 no _NUMBER), then suffix: the
 * names of most formats. test: the word for that split; the other one is "train". */
void shard_file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, const char *test,
                     const char *suffix);

/* The name of the table of documents (--docs): file 0's, .npy, .bin, .ds or .mds replaced by .csv.gz. */
void shard_docs_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number);

/* u16 for a vocabulary of at most 65,536, else u32: what -d auto is in most formats. Not known (0): u32. */
enum shard_dtype shard_dtype_unsigned(uint64_t vocabulary);

extern const struct shard_format format_npy, format_raw, format_llmc, format_megatron, format_datatrove, format_dolma,
    format_mds;
extern const struct shard_format *const shard_formats[];        /* ends with NULL; the first is the default */
const struct shard_format *shard_format_find(const char *name); /* NULL: there is none of that name */
const char *const *shard_format_names(void);                    /* ends with NULL */

#endif
