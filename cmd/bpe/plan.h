/* plan.h - what the files of bpe plan share:
 *
 *     plan.c            the command
 *     plan_sample.c     a sample of the text, from many places, which plan_blocks.c finds
 *     plan_measure.c    what the programs take for its first hundredth, two hundredths, and so on
 *     plan_fit.c        Heaps' law, held against the largest sample; lines through the rest
 *     plan_model.c      what follows from it for the whole
 *     plan_command.c    with which commands
 *     plan_show.c       all that as text, and plan_json.c as JSON
 */
#ifndef BPE_CMD_PLAN_H
#define BPE_CMD_PLAN_H

#include "base/cli/options.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "driver/job.h"
#include "input/input_form.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- The sample ---- */

enum { PLAN_PARTS = 7 };

/* Where a block, or the part of it that is in one file, is from. */
struct plan_piece {
    size_t source;
    uint64_t begin, end; /* bytes of its text */
    bool ends_line;      /* else a newline is added */
};

struct plan_source {
    const char *name; /* of the FILE; borrowed */
    bool spooled;     /* its text is in the spool, from `base` on */
    uint64_t base, size;
};

struct plan_block {
    size_t first, n; /* its pieces */
    uint64_t len;    /* bytes */
};

/* The first parts together are a hundredth of the sample, two hundredths, and so on, up to all of it. */
struct plan_sample {
    int part[PLAN_PARTS];       /* files without names; owned */
    uint64_t bytes[PLAN_PARTS]; /* of each */
    size_t n_parts;
    size_t first_block[PLAN_PARTS + 1]; /* of each part */
    uint64_t whole;                     /* bytes of all text; 0: not known */
    uint64_t first;                     /* how many files were read from their beginning only */
    struct plan_source *sources;        /* owned, as all of these */
    struct plan_piece *pieces;
    struct plan_block *blocks;
    size_t n_sources, n_pieces, n_blocks, cap_sources, cap_pieces, cap_blocks;
};

/* Takes about `max` bytes of the files. The same files give the same sample. -1: EX_DATAERR (too little text, or what
 * cannot be decompressed), EX_NOINPUT, EX_IOERR, EX_CANTCREAT. */
int plan_sample_take(struct plan_sample *s, const struct input_form *form, uint64_t max, char **files, int n_files,
                     struct err *e);
void plan_sample_free(struct plan_sample *s);

/* Where a byte of a part is from: the name of the FILE (borrowed), and the byte of its text; NULL: nowhere. */
const char *plan_sample_origin(const struct plan_sample *s, size_t part, uint64_t at, uint64_t *offset);

/* ---- What the programs take for it ---- */

enum { PLAN_OFTEN = 11 };
extern const unsigned plan_often[PLAN_OFTEN]; /* 1, 2, 3, 5, 10, 20, ... */

enum { PLAN_MERGES = 3 };

typedef double plan_series[PLAN_PARTS]; /* a figure for each part, or for the first parts together */

/* Seconds are CPU time without that of starting a program; memory is the most that the process had. */
struct plan_facts {
    size_t n; /* points, counts and adds */
    struct {
        plan_series bytes, distinct, sum;
    } point; /* the first parts together: their text, distinct pretokens, bytes of the sum */
    struct {
        plan_series bytes, records, seconds, memory;
    } count; /* bpe-count of a part: its text, its distinct pretokens */
    struct {
        plan_series records, seconds, memory;
    } add; /* bpe-sum: distinct pretokens of all its inputs */
    struct {
        plan_series seconds, memory;
    } merge; /* bpe-merge: of the last PLAN_MERGES points */
    struct {
        double records, seconds;
    } spill, sums; /* bpe-sum with so little memory that all goes to disk; of two sums in files (records 0: none) */
    struct {
        double bytes, seconds, ids;
    } encode;                 /* bpe-encode, by the model of the whole sample */
    double often[PLAN_OFTEN]; /* pretokens that occur so many times or more */
    double plain, compressed; /* bytes of counts, before and after zstd -3; 0: zstd is not installed */
};

/* chunk: bpe-chunk's options. Returns the exit status, whose reason was printed, or -1. */
int plan_measure(struct plan_facts *f, struct job *j, const struct plan_sample *s, const struct option_words *chunk,
                 uint64_t vocabulary, struct err *e);

/* ---- What follows ---- */

struct plan_ask {
    double size, whole, jobs, hosts, vocabulary; /* jobs: on all hosts */
    double cost, memory, read, network;          /* 0: no limit */
    double places, first;
};

/* y = at0 + slope x */
struct plan_line {
    double at0, slope;
};

/* The line through points by least squares; weight NULL: all the same. */
struct plan_line plan_line_fit(const double *x, const double *y, const double *weight, size_t n);

struct plan_law {
    size_t n;
    double x[PLAN_PARTS], y[PLAN_PARTS]; /* logarithms of bytes and distinct pretokens */
    double bytes, distinct;              /* of the sample */
    double exponent, ln_k;
    double expected, error; /* held-out: what the first sizes expect there; the logarithm of its ratio to what is */
    double unit;            /* the error for a factor of ten */
    bool few_sizes;         /* too few to hold a line against the whole sample */
};

enum plan_way { PLAN_FROM, PLAN_EXPECTED, PLAN_TO, PLAN_WAYS };

void plan_law_fit(struct plan_law *law, const struct plan_facts *f);
double plan_distinct(const struct plan_law *law, double bytes, enum plan_way way);

/* How far the range goes from what is expected, as a factor; more than PLAN_WIDE: the sample is too small. */
#define PLAN_WIDE 2.0
double plan_spread(const struct plan_law *law, double bytes);

struct plan_stage {
    const char *name;
    double cores, cpu, seconds, cost;
    bool waits;
};

enum { PLAN_STAGES = 6 };

/* NAN: there is no such figure. */
struct plan_figures {
    double batch, distinct, records, counts, host_records, host_sums, groups, group_records, sum;
    double counts_zstd, sum_zstd, host_sums_zstd;
    double count_memory, sum_memory, merge_memory, spilled, learned, min_count, ids;
    struct plan_stage stage[PLAN_STAGES];
    size_t n_stages;
};

struct plan {
    struct plan_law law;
    struct plan_figures way[PLAN_WAYS];
    size_t longest; /* stage of training, as expected */
    double seconds; /* all of training */
    double tasks;   /* for several hosts */
    double spread;
    bool too_small; /* the sample */
};

void plan_make(struct plan *p, const struct plan_ask *ask, const struct plan_facts *f);

/* ---- What is shown ---- */

struct plan_command {
    char what[160];  /* it is for, as a comment of the shell; empty: that is clear */
    struct buf line; /* ends with NUL; owned */
};

enum { PLAN_COMMANDS = 3 };

enum { PLAN_CELL = 64 };
void plan_put_duration(char to[PLAN_CELL], double seconds);

/* The command lines; none (*n is 0) where bpe tasks cannot read the text. options: bpe-chunk's. */
int plan_commands(struct plan_command c[PLAN_COMMANDS], size_t *n, const struct plan *p, const struct plan_ask *ask,
                  const struct option_words *options, char **files, int n_files, struct err *e);

int plan_put_text(struct buf *out, const struct plan *p, const struct plan_ask *ask,
                  const struct plan_command *commands, size_t n_commands, struct err *e);
int plan_put_json(struct buf *out, const struct plan *p, const struct plan_ask *ask, const struct plan_facts *f,
                  const struct plan_command *commands, size_t n_commands, struct err *e);

#endif
