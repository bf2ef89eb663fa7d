/* chunk_encoder.h - encodes the text of chunks, or plain text: chunk_reader reads the text, tokenize makes the ids, and
 * id_writer writes them.
 */
#ifndef BPE_ENCODE_CHUNK_ENCODER_H
#define BPE_ENCODE_CHUNK_ENCODER_H

#include "chunk/chunk_reader.h"
#include "encode/encode_rules.h"
#include "encode/encoder.h"
#include "encode/id_writer.h"
#include "encode/tokenize.h"

#include <stdbool.h>
#include <stdint.h>

struct chunk_encoder {
    /* Set these before any text is read. */
    struct encode_rules rules;
    struct encoder encoder; /* owned: encoder_init */
    struct id_writer out;   /* set format, descriptor and name, the width of an id, and the model's fingerprint */
    enum tokenize_eot eot;
    bool later;                              /* texts do not start a source, even if pieces begin there */
    bool no_special;                         /* a special token in text is an error */
    void (*seen)(void *ctx, uint64_t bytes); /* called with the bytes encoded since the last call; may be NULL */
    void (*skipped)(void *ctx, uint64_t n, struct str first); /* reports lines left out that no record reports */
    void *ctx;

    struct chunk_reader reader; /* pass it the input; the `work` of a run is a struct tokenize */
    struct tokenize *current;   /* the tokenize whose ids are being produced */
    struct chunk_run *batch_of; /* the run of the open batch, as a batch has only one run; NULL: no batch is open */
    uint64_t batch_text;        /* bytes of text in the batch */
    struct buf covered;
};

/* Sets up the reader. program: the program's name, for messages; borrowed. c must not be moved. */
void chunk_encoder_init(struct chunk_encoder *c, const char *program);
void chunk_encoder_free(struct chunk_encoder *c);

#endif
