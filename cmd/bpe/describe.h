/* describe.h - shared by the files of bpe describe. */
#ifndef BPE_CMD_DESCRIBE_H
#define BPE_CMD_DESCRIBE_H

#include "base/cli/options.h"
#include "base/cli/progress.h"
#include "base/io/input.h"
#include "chunk/chunk_reader.h"
#include "count/counter.h"
#include "count/external_merge.h"
#include "count/summing.h"
#include "encode/encode_rules.h"
#include "encode/token_counts.h"
#include "input/format_guess.h"
#include "model/model.h"
#include "pretok/rules.h"
#include "usage/source_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DESCRIBE_NAME "bpe describe"

struct describe_options {
    struct option_texts model;
    const char *pattern;
    struct option_texts special_token;
    uint64_t memory;  /* for the counts */
    const char *temp; /* as for spill_init */
    struct source_options source;
    char **files;
    int n_files;
};

enum {
    DESCRIBE_TOP = 16,    /* frequent pretokens or tokens listed */
    DESCRIBE_SHOWN = 200, /* bytes shown of each, at most */
};

struct describe_top { /* a frequent pretoken and its first bytes */
    uint64_t count;
    size_t len;
    unsigned char p[DESCRIBE_SHOWN];
};

/* The pretokens of the text by one set of rules, which several models may share. */
struct describe_split {
    const struct rules *rules; /* of the first of these models; borrowed */
    /* For text: the counts, and the bytes consumed of the window that all splits read. */
    struct counter counter;
    struct external_merge merge;
    size_t ahead;
    struct describe *of; /* the describe to which it belongs */
    /* The figures. */
    uint64_t n, n_distinct, n_bytes;
    struct describe_top top[DESCRIBE_TOP]; /* most frequent first */
    size_t n_top;
};

struct describe_model {
    const char *name;
    struct model model;
    struct encode_rules how;
    struct rules rules; /* with sorted special tokens */
    struct describe_split *split;
    struct token_counts tokens; /* of all pretokens */
};

struct describe {
    struct describe_options opt;
    struct describe_model *model; /* owned array */
    size_t n_models;
    struct describe_split *split; /* owned array */
    size_t n_splits;
    uint64_t text, files; /* bytes of the text, and of the files it was read from, which may be compressed */
    const char *sum;      /* the first FILE that is a sum, for messages; NULL: none was read */
    struct summing summing;
    struct chunk_reader reader;
    struct chunk_run *run; /* for text; NULL: no text was read */
    struct format_guess json;
    struct progress progress;
    uint64_t n_seen;
    struct buf ignored;
};

/* Adds a sum or a text, read from `in` (*taken*), whose first bytes are in `first` already. */
int describe_add_sum(struct describe *d, struct input *in, const struct buf *first, const char *path, struct err *e);
int describe_add_text(struct describe *d, struct input *in, struct buf *first, uint64_t source, struct err *e);

/* Encodes the pretokens of all sums, or all texts, and sets the figures. -1 with EX_DATAERR: the sums were counted by
 * rules other than those of a model; with EX_TEMPFAIL: they are incomplete. */
int describe_end_sums(struct describe *d, struct err *e);
int describe_end_text(struct describe *d, struct err *e);
void describe_text_free(struct describe *d);

/* Encodes all distinct pretokens of a split, or of the sums. */
int describe_encode(struct describe *d, struct describe_split *s, struct err *e);

/* Appends the output. */
int describe_put(const struct describe *d, struct buf *out, struct err *e);

#endif
