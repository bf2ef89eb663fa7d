/* chunk_encoder.h - the text of chunks, or text as it is, to ids: what chunk_reader reads goes through tokenize, and
 * the ids to id_writer.
 */
#ifndef BPE_ENCODE_CHUNK_ENCODER_H
#define BPE_ENCODE_CHUNK_ENCODER_H

#include "encode/encode_rules.h"
#include "encode/encoder.h"
#include "encode/id_writer.h"
#include "encode/tokenize.h"
#include "reader/chunk_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct chunk_encoder {
    /* Set before text comes. */
    struct encode_rules rules;
    struct encoder encoder; /* owned: encoder_init */
    struct id_writer out;   /* format, descriptor and name; width of an id, and which model */
    enum tokenize_eot eot;
    bool no_special;                         /* a special token in text is an error */
    void (*seen)(void *ctx, uint64_t bytes); /* so many more bytes of text were encoded; NULL: not told */
    void (*skipped)(void *ctx, uint64_t n, struct str first); /* where no record says it: lines that were left out */
    void *ctx;

    struct chunk_reader reader; /* what is to be encoded goes there; a run's work is a struct tokenize */
    struct tokenize *current;   /* whose ids come */
    struct chunk_run *batch_of; /* whose batch is open, as a batch is of one run; NULL: none is */
    struct buf covered;
};

/* Sets up the reader; program: its name, for messages; borrowed. c stays where it is. */
void chunk_encoder_init(struct chunk_encoder *c, const char *program);
void chunk_encoder_free(struct chunk_encoder *c);

#endif
