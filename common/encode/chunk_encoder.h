/* chunk_encoder.h - encodes the text of chunks, or plain text: what chunk_reader reads goes through tokenize, and the
 * ids to id_writer.
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
    /* To be set before any text is read. */
    struct encode_rules rules;
    struct encoder encoder; /* owned: encoder_init */
    struct id_writer out;   /* format, descriptor and name; width of an id, and the model's fingerprint */
    enum tokenize_eot eot;
    bool later;                              /* texts are not the start of a source, though pieces begin there */
    bool no_special;                         /* a special token in text is an error */
    void (*seen)(void *ctx, uint64_t bytes); /* called after this many more bytes were encoded; may be NULL */
    void (*skipped)(void *ctx, uint64_t n, struct str first); /* lines left out, if no record reports them */
    void *ctx;

    struct chunk_reader reader; /* pass it the input; a run's work is a struct tokenize */
    struct tokenize *current;   /* the one whose ids are being produced */
    struct chunk_run *batch_of; /* the run whose batch is open, as a batch is of one run; NULL: none is open */
    uint64_t batch_text;        /* bytes of text in it */
    struct buf covered;
};

/* Sets up the reader; program: its name, for messages; borrowed. c must not be moved. */
void chunk_encoder_init(struct chunk_encoder *c, const char *program);
void chunk_encoder_free(struct chunk_encoder *c);

#endif
