/* plan_blocks.h - taking a sample: plan_sample.c finds the texts, plan_blocks.c finds blocks in them. */
#ifndef BPE_CMD_PLAN_BLOCKS_H
#define BPE_CMD_PLAN_BLOCKS_H

#include "bpe/plan.h"

struct sampler {
    struct plan_sample *s;
    const struct input_form *form;
    uint64_t max;     /* bytes of text to take */
    uint64_t chance;  /* state of sampler_chance */
    int spool;        /* an unnamed file; -1: none */
    uint64_t spooled; /* bytes in it */
    struct buf window;
    /* The open source. */
    size_t source; /* SIZE_MAX: none */
    int fd;
    uint64_t known_from, known_to; /* no mark begins at [known_from, known_to), */
    bool known_mark;               /* and one does at known_to */
};

enum { SAMPLER_WINDOW = 64 << 10 }; /* bytes read at a time to find a mark */

/* A pseudorandom integer from 0 to n; the sequence is always the same. */
uint64_t sampler_chance(struct sampler *x, double n);

/* Opens a source, unless it is open already. */
int sampler_use(struct sampler *x, size_t source, struct err *e);

/* Reads bytes of the open source into the window; n: at most SAMPLER_WINDOW + 16. */
ssize_t sampler_look(struct sampler *x, uint64_t at, size_t n, struct err *e);

/* The block size for a text of n bytes, or for a sample of it. */
uint64_t sampler_block(const struct sampler *x, uint64_t n);

/* Adds all of a source, as blocks of about that size. */
int sampler_cut(struct sampler *x, size_t source, uint64_t block, struct err *e);

/* Samples all sources from `first` on, which are plain files: divides the whole into as many equal parts as the sample
 * has blocks, and takes a block of each; or takes everything if it is hardly larger than the sample. Adds to s->whole.
 */
int sampler_take_places(struct sampler *x, size_t first, struct err *e);

#endif
