/* model_read.h - the readers behind model_read, one for each format. */
#ifndef BPE_MODEL_MODEL_READ_H
#define BPE_MODEL_MODEL_READ_H

#include "core/model.h"
#include "model/model_build.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "json/json_read.h"

/* The file is what is in head (taken) and what else fd has; name is for messages. *m is filled, or to be freed after
 * failure, too. */
int model_read_json(struct model *m, int fd, const char *name, struct buf *head, struct err *e);
/* sidecar: its path, or NULL. */
int model_read_tiktoken(struct model *m, int fd, const char *name, struct buf *head, const char *sidecar,
                        const struct model_opts *opts, struct err *e);
int model_read_gpt2(struct model *m, const char *vocab, const char *merges, const struct model_opts *opts,
                    struct err *e);

/* An object of tokens and ids, as vocab.json is one: keys that are no spelling become tokens outside of the vocabulary.
 */
int model_read_vocab(struct json_reader *r, struct build *b);

#endif
