/* tokenizer.h - an open tokenizer, as the files of the C library know it; its API is bpetools.h. */
#ifndef BPE_LIBRARY_TOKENIZER_H
#define BPE_LIBRARY_TOKENIZER_H

#include "encode/decoder.h"
#include "encode/encode_rules.h"
#include "library/bpetools.h"
#include "library/worker.h"
#include "model/model.h"

#include <stdbool.h>

/* Nothing but what is in the pool changes after it is opened. */
struct bpe_tokenizer {
    struct model model;
    char *name;
    struct encode_rules rules; /* that find special tokens */
    struct bpe_added *added;
    struct decoder decoder;
    bool decodes; /* the decoder is there */
    struct worker_pool *pool;
};

#endif
