/* worker.h - what encodes texts, one after the other, and a pool of such.
 *
 * A worker changes while it works: its cache of pretokens fills. So each call takes one from the tokenizer's pool, or
 * makes one, and puts it back. The pool is an array of pointers that are exchanged atomically: without a lock, no
 * process that forks in the middle of another thread's call waits for ever.
 */
#ifndef BPE_LIBRARY_WORKER_H
#define BPE_LIBRARY_WORKER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/encode_rules.h"
#include "encode/encoder.h"
#include "library/bpetools.h"
#include "pretok/pretokenize.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text to pretokens: special tokens are found, or are text. */
struct splitter {
    bool is_open;
    struct pretokenizer pretokenizer;
    uint32_t *special_id; /* owned; of the special tokens of its rules */
};

struct worker {
    struct encoder encoder;
    struct splitter splitter[2]; /* by whether special tokens are text */
    struct splitter *now;        /* the one at work */
    const struct model *refuse;  /* whose special tokens are an error; NULL: they are not */
    struct ids ids;              /* the result */
    struct buf end;              /* the end of a text, and SCAN_PAD bytes */
};

void worker_free(struct worker *w); /* NULL is fine */

/* Appends the ids of a text to w->ids. -1: the worker can only be freed; *where is the place in the text. */
int worker_encode(struct worker *w, const char *text, size_t n, size_t *where, struct err *e);

/* An empty pool. NULL: out of memory. */
struct worker_pool *worker_pool_make(struct err *e);
void worker_pool_free(struct worker_pool *pool); /* NULL is fine */

/* A worker for the model of these rules, which are borrowed while it lives; to be freed or put back. NULL: out of
 * memory, `special` is none, or as encode_rules_for_text. */
struct worker *worker_get(struct worker_pool *pool, const struct encode_rules *er, enum bpe_special special,
                          struct err *e);
void worker_put(struct worker_pool *pool, struct worker *w);

#endif
