/* worker.h - a worker, which encodes one text after another, and a pool of workers.
 *
 * A worker changes while it works: its cache of pretokens fills. So each call takes a worker from the tokenizer's pool,
 * or makes one, and puts it back. The pool is an array of pointers that are exchanged atomically. It has no lock,
 * because the child of a process that forks during another thread's call would wait for that lock forever.
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

/* Splits text into pretokens, either with special tokens or with all of them as text. */
struct splitter {
    bool is_open;
    struct pretokenizer pretokenizer;
    uint32_t *special_id; /* owned; the ids of the special tokens of its rules */
};

struct worker {
    struct encoder encoder;
    struct splitter splitter[2]; /* indexed by whether special tokens are text */
    struct splitter *now;        /* the one in use */
    const struct model *refuse;  /* the model whose special tokens are an error; NULL: they are not */
    struct ids ids;              /* the result */
    struct buf end;              /* a copy of the end of a text, and SCAN_PAD bytes */
};

void worker_free(struct worker *w); /* NULL is fine */

/* Appends the ids of a text to w->ids. -1: *where is the offset in the text; the worker can only be freed. */
int worker_encode(struct worker *w, const char *text, size_t n, size_t *where, struct err *e);

/* An empty pool. NULL: out of memory. */
struct worker_pool *worker_pool_make(struct err *e);
void worker_pool_free(struct worker_pool *pool); /* NULL is fine */

/* Gets a worker for the model of these rules, which are borrowed while it lives. Free it or put it back. NULL: out of
 * memory, `special` is not a BPE_SPECIAL_* value, or the errors of encode_rules_for_text. */
struct worker *worker_get(struct worker_pool *pool, const struct encode_rules *er, enum bpe_special special,
                          struct err *e);
void worker_put(struct worker_pool *pool, struct worker *w);

#endif
