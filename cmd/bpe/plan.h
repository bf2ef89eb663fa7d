/* plan.h - shared by the files of bpe plan:
 *
 *     plan.c            the command
 *     plan_sample.c     a sample of the text, from many positions, which plan_blocks.c finds
 *     plan_measure.c    what the programs need for 1 %, 2 % and so on of the sample
 *     plan_fit.c        Heaps' law, tested on the whole sample; lines fitted to the rest
 *     plan_model.c      the estimate for the whole corpus
 *     plan_command.c    the commands to run
 *     plan_show.c       the plan as text; plan_json.c: as JSON
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

/* The origin of a block, or of the part of it that is in one file. */
struct plan_piece {
    size_t source;
    uint64_t begin, end; /* bytes of its text */
    bool ends_line;      /* false: a newline is added */
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

/* Part 0 is 1 % of the sample; the first two parts are 2 % of it, then 5, 10, 20, 50 and 100 %. */
struct plan_sample {
    int part[PLAN_PARTS];       /* unnamed files; owned */
    uint64_t bytes[PLAN_PARTS]; /* of each */
    size_t n_parts;
    size_t first_block[PLAN_PARTS + 1]; /* of each part */
    uint64_t whole;                     /* bytes of the whole text; 0: unknown */
    uint64_t first;                     /* number of files read only from the beginning */
    struct plan_source *sources;        /* owned, as are the next two */
    struct plan_piece *pieces;
    struct plan_block *blocks;
    size_t n_sources, n_pieces, n_blocks, cap_sources, cap_pieces, cap_blocks;
};

/* Takes about `max` bytes of the files. The same files give the same sample. -1: EX_DATAERR (too little text, or it
 * cannot be decompressed), EX_NOINPUT, EX_IOERR, EX_CANTCREAT. */
int plan_sample_take(struct plan_sample *s, const struct input_form *form, uint64_t max, char **files, int n_files,
                     struct err *e);
void plan_sample_free(struct plan_sample *s);

/* The origin of a byte of a part: the name of the FILE (borrowed), and the offset in its text; NULL: out of range. */
const char *plan_sample_origin(const struct plan_sample *s, size_t part, uint64_t at, uint64_t *offset);

/* ---- What the programs need for it ---- */

enum { PLAN_OFTEN = 11 };
extern const unsigned plan_often[PLAN_OFTEN]; /* 1, 2, 3, 5, 10, 20, ... */

enum { PLAN_MERGES = 3 };

typedef double plan_series[PLAN_PARTS]; /* a figure for each part, or for all parts up to it */

/* Seconds are CPU time without that of starting a program; memory is the peak of the process. */
struct plan_facts {
    size_t n; /* number of points, counts and adds */
    struct {
        plan_series bytes, distinct, sum;
    } point; /* all parts up to this one: their text, distinct pretokens, bytes of the sum */
    struct {
        plan_series bytes, records, seconds, memory;
    } count; /* bpe-count of a part: its text, its distinct pretokens */
    struct {
        plan_series records, seconds, memory;
    } add; /* bpe-sum: distinct pretokens of all its inputs */
    struct {
        plan_series seconds, memory;
    } merge; /* bpe-merge, for the last PLAN_MERGES points */
    struct {
        double records, seconds;
    } spill, sums; /* bpe-sum: with so little memory that all goes to disk; of two sums in files (0 records: none) */
    struct {
        double bytes, seconds, ids;
    } encode;                 /* bpe-encode, with the model of the whole sample */
    double often[PLAN_OFTEN]; /* pretokens that occur at least plan_often[i] times */
    double plain, compressed; /* bytes of counts, before and after zstd -3; 0: zstd is not installed */
};

/* chunk: bpe-chunk's options. Returns the exit status, whose reason was printed, or -1. */
int plan_measure(struct plan_facts *f, struct job *j, const struct plan_sample *s, const struct option_words *chunk,
                 uint64_t vocabulary, struct err *e);

/* ---- The estimate ---- */

struct plan_ask {
    double size, whole, jobs, hosts, vocabulary; /* jobs: on all hosts */
    double cost, memory, read, network;          /* 0: no limit */
    double places, first;
};

/* y = at0 + slope x */
struct plan_line {
    double at0, slope;
};

/* Fits a line to points by least squares; weight NULL: equal weights. */
struct plan_line plan_line_fit(const double *x, const double *y, const double *weight, size_t n);

struct plan_law {
    size_t n;
    double x[PLAN_PARTS], y[PLAN_PARTS]; /* logarithms of bytes and distinct pretokens */
    double bytes, distinct;              /* of the sample */
    double exponent, ln_k;
    double expected, error; /* held-out test: `distinct` as predicted by small sizes; ln(expected / distinct) */
    double unit;            /* the error for a factor of ten */
    bool few_sizes;         /* too few sizes to test a line on the whole sample */
};

enum plan_way { PLAN_FROM, PLAN_EXPECTED, PLAN_TO, PLAN_WAYS };

void plan_law_fit(struct plan_law *law, const struct plan_facts *f);
double plan_distinct(const struct plan_law *law, double bytes, enum plan_way way);

/* How far the range extends from the expected value, as a factor; above PLAN_WIDE the sample is too small. */
#define PLAN_WIDE 2.0
double plan_spread(const struct plan_law *law, double bytes);

struct plan_stage {
    const char *name;
    double cores, cpu, seconds, cost;
    bool waits;
};

enum { PLAN_STAGES = 6 };

/* NAN: not applicable. */
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
    size_t longest; /* the longest stage of training, as expected */
    double seconds; /* all of training */
    double tasks;   /* for several hosts */
    double spread;
    bool too_small; /* the sample */
};

void plan_make(struct plan *p, const struct plan_ask *ask, const struct plan_facts *f);

/* ---- Output ---- */

struct plan_command {
    char what[160];  /* its purpose, as a shell comment; empty: obvious */
    struct buf line; /* ends with NUL; owned */
};

enum { PLAN_COMMANDS = 3 };

enum { PLAN_CELL = 64 };
void plan_put_duration(char to[PLAN_CELL], double seconds);

/* The command lines; none (*n is 0) if bpe tasks cannot read the text. options: bpe-chunk's. */
int plan_commands(struct plan_command c[PLAN_COMMANDS], size_t *n, const struct plan *p, const struct plan_ask *ask,
                  const struct option_words *options, char **files, int n_files, struct err *e);

int plan_put_text(struct buf *out, const struct plan *p, const struct plan_ask *ask,
                  const struct plan_command *commands, size_t n_commands, struct err *e);
int plan_put_json(struct buf *out, const struct plan *p, const struct plan_ask *ask, const struct plan_facts *f,
                  const struct plan_command *commands, size_t n_commands, struct err *e);

#endif
