/* plan_blocks.h - a sample that is being taken: plan_sample.c finds the texts, plan_blocks.c blocks in them. */
#ifndef BPE_CMD_PLAN_BLOCKS_H
#define BPE_CMD_PLAN_BLOCKS_H

#include "bpe/plan.h"

struct sampler {
    struct plan_sample *s;
    const struct input_form *form;
    uint64_t max;     /* bytes of text to take */
    uint64_t chance;  /* state of sampler_chance */
    int spool;        /* a file without a name; -1: none */
    uint64_t spooled; /* bytes in it */
    struct buf window;
    /* The source that is open. */
    size_t source; /* SIZE_MAX: none */
    int fd;
    uint64_t known_from, known_to; /* no mark begins at [known_from, known_to), */
    bool known_mark;               /* and one does at known_to */
};

enum { SAMPLER_WINDOW = 64 << 10 }; /* bytes that are read to find a mark */

/* A whole number from 0 to n; the same ones each time. */
uint64_t sampler_chance(struct sampler *x, double n);

/* Opens a source, unless it is open. */
int sampler_use(struct sampler *x, size_t source, struct err *e);

/* Reads bytes of the open source into the window; n: at most SAMPLER_WINDOW + 16. */
ssize_t sampler_look(struct sampler *x, uint64_t at, size_t n, struct err *e);

/* The size of blocks in so many bytes, or in a sample of them. */
uint64_t sampler_block(const struct sampler *x, uint64_t n);

/* A source as blocks of about that size, all of it. */
int sampler_cut(struct sampler *x, size_t source, uint64_t block, struct err *e);

/* All sources from `first` on, which are plain files: a block from each of as many parts of the whole as the sample has
 * blocks; all of it if it is hardly larger. Adds to s->whole. */
int sampler_take_places(struct sampler *x, size_t first, struct err *e);

#endif
