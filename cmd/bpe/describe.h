/* describe.h - what models do to texts: shared by the files of bpe describe, and used by bpe report.
 *
 *     describe_read_models, then for each text: describe_add..., describe_end, describe_clear
 */
#ifndef BPE_CMD_DESCRIBE_H
#define BPE_CMD_DESCRIBE_H

#include "base/cli/options.h"
#include "base/cli/progress.h"
#include "base/io/input.h"
#include "bpe/count_histogram.h"
#include "chunk/chunk_reader.h"
#include "count/counter.h"
#include "count/external_merge.h"
#include "count/summing.h"
#include "encode/encode_rules.h"
#include "encode/token_counts.h"
#include "input/format_guess.h"
#include "model/model.h"
#include "pretok/rules.h"
#include "usage/shared_options.h"
#include "usage/source_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct describe_options {
    struct option_texts model;
    const char *pattern;
    struct option_texts special_token;
    uint64_t memory;  /* for the counts */
    const char *temp; /* as for spill_init */
    struct source_options source;
};

/* Rows of a table of options: o is a field of the struct `owner`, of type struct describe_options. */
/* clang-format off */
#define DESCRIBE_OPTIONS(owner, o) \
    INVALID_OPTION(owner, o.source, "is a pretoken"), \
    SOURCE_OPTIONS(owner, o.source), \
    MODELS_RULES_OPTIONS(owner, o.pattern, o.special_token), \
    {'S', "memory", "SIZE", "use about SIZE of memory for counts, then the disk (default 50%)", \
     OPTION_TO(MEMORY, owner, o.memory)}, \
    {'T', "temp", "DIR", "write temporary files to DIR (default $TMPDIR, or /tmp)", OPTION_TO(TEXT, owner, o.temp)}
/* clang-format on */

enum {
    DESCRIBE_TOP = 16,    /* frequent pretokens or tokens listed */
    DESCRIBE_WORDS = 64,  /* frequent words known */
    DESCRIBE_SHOWN = 200, /* bytes shown of each, at most */
};

/* Frequent pretokens, the most frequent first, and the first bytes of each. */
struct describe_top {
    struct describe_frequent {
        uint64_t count;
        size_t len;
        unsigned char p[DESCRIBE_SHOWN];
    } at[DESCRIBE_WORDS];
    size_t n, max;
};

/* How many distinct pretokens the first bytes of a text have: at 4 KiB, and then after each half octave. */
struct describe_growth {
    struct {
        uint64_t bytes, n;
    } at[2 * 64];
    size_t n;
    bool stopped; /* counts went to disk, so it is not known how many are distinct */
};

/* The pretokens of the text by one set of rules, which several models may share. */
struct describe_split {
    const struct rules *rules; /* of the first of these models; borrowed */
    /* For text: the counts, and the bytes consumed of the window that all splits read. */
    struct counter counter;
    struct external_merge merge;
    size_t ahead;
    struct describe *of; /* the describe to which it belongs */
    bool in_order;       /* models need the pretokens in order */
    uint64_t read;       /* bytes of pretokens so far */
    /* Texts (documents), with in_order. Each ends with the input, or at a special token. */
    size_t separator;            /* this token; SIZE_MAX: any */
    bool documents;              /* the input form has documents, so no token ends them */
    const unsigned char *window; /* what the pretokenizer reads; borrowed */
    size_t counted;              /* bytes of it whose words have been counted */
    uint64_t text_words;         /* words of the current text so far: separated by white space */
    bool in_word;
    uint64_t text_bytes, text_chars; /* of all texts, without special tokens, as they are in the input form */
    /* The figures. */
    uint64_t n, n_distinct, n_bytes, n_chars; /* of pretokens */
    uint64_t n_texts, n_words;                /* of texts with a word */
    struct describe_top top;
    struct describe_top words; /* those of two letters or more */
    struct count_histogram counts;
    struct describe_growth growth; /* of text */
};

struct describe_model {
    const char *name;
    struct model model;
    struct encode_rules how;
    struct rules rules;   /* with sorted special tokens */
    uint32_t *special_id; /* owned; their ids; NULL: not needed */
    struct describe_split *split;
    struct token_counts tokens; /* of all pretokens */
    uint64_t text_tokens;       /* tokens before the current text */
    double per_word;            /* the sum, over all texts with a word, of tokens per word */
};

struct describe {
    const char *name; /* of the program, for messages */
    struct describe_options opt;
    bool in_order;                /* encode all pretokens of text in order, to see the tokens of each document */
    struct describe_model *model; /* owned array */
    size_t n_models;
    struct describe_split *split; /* owned array */
    size_t n_splits;
    uint64_t text, files; /* bytes of the text, and of the files it was read from, which may be compressed */
    bool incomplete;      /* the sums are: there is more text, which was not counted */
    const char *sum;      /* the first FILE that is a sum, for messages; NULL: none was read */
    struct summing summing;
    struct chunk_reader reader;
    struct chunk_run *run; /* for text; NULL: no text was read */
    struct format_guess json;
    struct progress progress;
    uint64_t n_seen;
    struct buf ignored;
};

/* Reads the models that the options name. -1: see model_read. */
int describe_read_models(struct describe *d, struct err *e);

/* Adds a file, a sum or text; source: its number. All files until describe_end are one text; their names are borrowed.
 * -1 with EX_USAGE: text and sums together, or a model that cannot be used for it. */
int describe_add(struct describe *d, const char *path, uint64_t source, struct err *e);

/* Encodes the pretokens, and sets the figures. -1 with EX_DATAERR: sums were counted by rules other than those of a
 * model; with EX_TEMPFAIL: they are incomplete. */
int describe_end(struct describe *d, struct err *e);

void describe_clear(struct describe *d); /* forgets the text: the next one may be added */
void describe_free(struct describe *d);

/* Appends the output of bpe describe. */
int describe_put(const struct describe *d, struct buf *out, struct err *e);

/* ---- Parts of these ---- */

/* Adds a sum or a text, read from `in` (*taken*), whose first bytes are in `first` already. */
int describe_add_sum(struct describe *d, struct input *in, const struct buf *first, const char *path, struct err *e);
int describe_add_text(struct describe *d, struct input *in, struct buf *first, uint64_t source, struct err *e);

int describe_end_sums(struct describe *d, struct err *e);
int describe_end_text(struct describe *d, struct err *e);
void describe_text_free(struct describe *d);

/* From now on, the pretokens of a model's split go to its token_counts, too. -1: out of memory. */
int describe_in_order(struct describe_model *m, struct err *e);

/* Before and after the pretokenizer of such a split reads a window, p, of which it used so many bytes. documents: the
 * input form has documents, so no special token ends one. */
void describe_window(struct describe_split *s, const unsigned char *p, bool documents);
int describe_window_end(struct describe_split *s, size_t used, enum window_end end, struct err *e);

/* Encodes all distinct pretokens of a split, or of the sums. */
int describe_encode(struct describe *d, struct describe_split *s, struct err *e);

#endif
