/* report.h - shared by the files of bpe report.
 *
 *     models, sources  -> describe.h            report.c
 *     each token       -> what it is            report_vocabulary.c, report_kinds.c
 *     model and source -> figures, curves       report_figures.c
 *     figures by name  -> limits (--require)    report_metrics.c
 *     tokens           -> lists                 report_lists.c
 *     all of it        -> JSON; a page of HTML  report_json.c; report_page.h
 */
#ifndef BPE_CMD_REPORT_H
#define BPE_CMD_REPORT_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "bpe/describe.h"
#include "bpe/report_kinds.h"
#include "library/worker.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REPORT_MODELS = 5,   /* at most */
    REPORT_SHOWN = 12,   /* sources with pictures, at most */
    REPORT_LENGTHS = 16, /* tokens of 1 to 15 bytes; of more */
    REPORT_POINTS = 96,  /* of a curve, at most */
    REPORT_OCTAVE = 6,   /* points of the curve by size for each factor of 2 */
    REPORT_LISTED = 200, /* tokens in a table, at most */
};

/* ---- A vocabulary ---- */

/* What becomes of a token whose text is encoded again (magikarp's categories, Land and Bartolo, 2024). */
enum token_reach {
    REACH_SELF,        /* it is made */
    REACH_SPECIAL,     /* an added token, or the one for unknown characters */
    REACH_UNDECODABLE, /* its bytes are not UTF-8, so there is no such text */
    REACH_SINGLE,      /* from here on, it is unreachable: another single token is made */
    REACH_MULTI,       /* several are made */
    REACH_NOT_MADE,    /* no merges make it; how the model splits text is not known */
};

struct report_vocabulary {
    const struct model *model; /* borrowed */
    size_t n;                  /* tokens */
    struct buf bytes;          /* of the texts of tokens, if they differ from the model's */
    size_t *text;              /* owned; by id: where its text begins in `bytes`; NULL: all are the model's */
    unsigned char *kind;       /* owned; by id: enum report_kind */
    unsigned char *reach;      /* owned; by id: enum token_reach */
    uint64_t n_reach[REACH_NOT_MADE + 1];
    uint64_t n_kind[REPORT_KINDS], n_length[REPORT_LENGTHS]; /* of the tokens that are not special */
    struct merge *split;                                     /* owned; by id: model_splits */
    uint32_t *longest_first;                                 /* owned; all ids with a token, by length */
    uint32_t *learned; /* owned; the tokens that merges make, in the order in which these are applied */
    size_t n_longest, n_learned;
    uint64_t *count; /* owned; by id: occurrences in all sources */
    uint64_t *made;  /* owned; by id: how often its merge was applied in all sources, or it occurred without one */
    struct worker *worker; /* owned; NULL: it is not known how the model splits text */
};

int report_vocabulary_init(struct report_vocabulary *v, struct describe_model *m, struct scripts *scripts,
                           struct err *e);
void report_vocabulary_free(struct report_vocabulary *v); /* a zeroed struct is fine */

/* The text of a token: what decoding makes of it inside a text. Borrowed. */
struct str report_token_text(const struct report_vocabulary *v, uint32_t id);

/* Whether a token may be left out of a vocabulary: neither special nor a single byte. */
bool report_token_removable(const struct report_vocabulary *v, uint32_t id);

/* Whether a token is waste in these sources: it may be left out, and they do not need it even as a part of others. */
bool report_token_waste(const struct report_vocabulary *v, uint32_t id);

/* Whether the text of a token is encoded to others; how many such tokens there are. */
static inline bool report_token_unreachable(const struct report_vocabulary *v, uint32_t id)
{
    return v->reach[id] >= REACH_SINGLE;
}
uint64_t report_unreachable(const struct report_vocabulary *v);

/* Encodes a text that stands inside a longer one, so that no prefix is added. Its ids are in v->worker->ids; v->worker
 * must not be NULL. -1: see worker_encode. */
int report_encode(const struct report_vocabulary *v, struct str text, struct err *e);

/* Adds how often the merge of each token was applied to make these tokens, or it occurred without one. made: by id,
 * zeroed. */
void report_made(const struct report_vocabulary *v, const uint64_t *count, uint64_t *made);

/* ---- A model and a source ---- */

struct report_curve {
    struct report_point {
        double x, y;
    } at[REPORT_POINTS];
    size_t n;
};

/* What a model does to a source, or to all of them. */
struct report_cell {
    uint64_t bytes, chars;
    bool has_pretokens, has_texts; /* whether these are known, except `distinct` of all sources together: */
    uint64_t pretokens, distinct;
    uint64_t texts, words;                                 /* of the texts with a word */
    double per_word;                                       /* the sum, over these, of tokens per word */
    uint64_t tokens, types;                                /* occurrences; tokens that occur */
    double renyi;                                          /* efficiency; NAN: fewer than two types */
    uint64_t kinds[REPORT_KINDS], lengths[REPORT_LENGTHS]; /* occurrences */
    size_t group;                                          /* the first model that splits text in the same way */
    bool growth_expected;                                  /* `growth` is not measured, but expected from the counts */
    struct report_curve by_size;                           /* size of the vocabulary, bytes per token */
    struct report_curve by_rank;                           /* rank of the token, how often it occurs */
    struct report_curve growth; /* bytes of pretokens, how many are distinct; empty: not known */
};

struct report_source {
    struct str name; /* borrowed */
    int first;       /* of its FILEs; the others follow in report.next */
    bool is_sum, incomplete;
    uint64_t text;             /* bytes that were read */
    struct describe_top words; /* by the first model that splits text; n 0: none does */
    struct report_cell *cell;  /* owned; of each model */
};

struct report_limit;

struct report {
    struct describe d;
    const char *output;
    struct option_texts require;
    bool parallel;
    char **files; /* NAME=PATH, or PATH */
    int n_files;
    char **path; /* owned array of their paths, borrowed */
    int *next;   /* owned array: the next FILE of the same source; n_files: none */
    struct scripts scripts;
    struct report_vocabulary vocabulary[REPORT_MODELS];
    struct report_source *source; /* owned */
    size_t n_sources;
    struct report_cell all[REPORT_MODELS]; /* of all sources together, without `growth`, if there are several */
    struct report_limit *limit;            /* owned */
    size_t n_limits, cap_limits;
};

/* The index of all sources together, for the functions below: the only one, if there is one. */
#define REPORT_ALL SIZE_MAX
bool report_is_all(const struct report *r, size_t source); /* and whether there are several */

/* Sets *source to the nth of the sources, after which come all together, if there are several. false: no more. */
bool report_nth_source(const struct report *r, size_t n, size_t *source);

const struct report_cell *report_cell(const struct report *r, size_t model, size_t source);
struct str report_source_name(const struct report *r, size_t source);

/* The script whose tokens two models need in the most different numbers for a source; REPORT_KINDS: none. */
enum report_kind report_script(const struct report_cell *a, const struct report_cell *b);

/* The path of a FILE, which may be NAME=PATH. */
char *report_path(char *file);

/* Finds the sources: FILEs with the same name are one. -1: out of memory, or EX_USAGE. */
int report_find_sources(struct report *r, struct err *e);
void report_sources_free(struct report *r);

/* Sets the figures of the source that r->d has just described; report_end: those of all sources together. -1: out of
 * memory. */
int report_take(struct report *r, struct report_source *s, struct err *e);
int report_end(struct report *r, struct err *e);

/* ---- Figures by name ---- */

struct report_metric {
    const char *name;  /* in the JSON and in --require */
    const char *label; /* on the page */
    int decimals;      /* shown */
    bool percent;      /* shown as one */
    bool of_model;     /* it has no source */
    /* NAN: not known. */
    double (*value)(const struct report *r, size_t model, size_t source);
    enum { NEEDS_TOKENS, NEEDS_TEXT, NEEDS_PARALLEL } needs; /* without which it is not known */
};

extern const struct report_metric report_metrics[]; /* ends with name NULL */

/* Reads --require, when the names of the sources are known. -1 with EX_USAGE. */
int report_limits_read(struct report *r, struct err *e);

void report_limits_free(struct report *r);

/* Checks the limits. Returns 0; 1: a model falls short, and a line was printed for each; -1 with EX_USAGE: a figure is
 * not known; with EX_TEMPFAIL: a sum is incomplete. */
int report_limits_check(const struct report *r, struct err *e);

/* Whether the ith limit holds for a model: 1, 0; -1: its figure is not known. And its text. */
int report_limit_holds(const struct report *r, size_t i, size_t model);
const char *report_limit_text(const struct report *r, size_t i);

/* ---- Lists of tokens ---- */

enum report_list {
    LIST_UNREACHABLE,
    LIST_WASTE,
    LIST_LEAST_MERGED,
    LIST_LEAST,
    LIST_MOST,
    LIST_ONLY_PARTS,
    LIST_UNDECODABLE,
    LIST_CROSSING,
    LIST_NUMBERS,
    LIST_SPACES,
    LIST_LONGEST,
    REPORT_LISTS,
};

struct report_tokens {
    uint32_t id[REPORT_LISTED];
    size_t n, n_all; /* listed; in the vocabulary */
};

struct report_list_of {
    const char *name, *title, *about;
    bool (*has)(const struct report_vocabulary *v, uint32_t id);
    bool (*before)(const struct report_vocabulary *v, uint32_t a, uint32_t b);
};
extern const struct report_list_of report_lists[REPORT_LISTS];

void report_list_tokens(const struct report_vocabulary *v, enum report_list list, struct report_tokens *t);

/* ---- Outputs ---- */

int report_to_json(const struct report *r, struct buf *out, struct err *e);
int report_to_page(const struct report *r, struct buf *out, struct err *e);

#endif
