/* tokenizer.h - the inside of an open tokenizer, for the files of the C library. The public API is bpetools.h. */
#ifndef BPE_LIBRARY_TOKENIZER_H
#define BPE_LIBRARY_TOKENIZER_H

#include "encode/decoder.h"
#include "encode/encode_rules.h"
#include "library/bpetools.h"
#include "library/worker.h"
#include "model/model.h"

#include <stdbool.h>

/* Only the contents of the pool change after it is opened. */
struct bpe_tokenizer {
    struct model model;
    char *name;
    struct encode_rules rules; /* these find special tokens */
    struct bpe_added *added;
    struct decoder decoder;
    bool decodes; /* whether the decoder is set up */
    struct worker_pool *pool;
};

#endif
