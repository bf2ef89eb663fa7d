/* source_end.h - whether a text that comes through a pipe has come to its end, or was cut off because what should write
 * it has failed or was killed: the end of a pipe looks the same.
 *
 * Whoever starts the writer, and so learns how it ends, holds the other end of a second pipe, whose descriptor is told
 * to bpe-chunk (--input-status). At the end of the text one byte is read there, and waited for: 0, written after the
 * writer has done all its work. Where that pipe ends without it, as also when whoever holds it is killed, the text is
 * cut off: nothing is written that the text after it might change, neither its last piece nor a promise nor a failure.
 */
#ifndef BPE_CHUNK_SOURCE_END_H
#define BPE_CHUNK_SOURCE_END_H

#include "base/io/input.h"
#include "base/sys/err.h"

/* Checks that the descriptor is open. -1 with EX_USAGE. */
int source_end_check(int status, struct err *e);

/* Lets the end of an input count only so; status 0: any end counts. The read that reaches the end fails with
 * EX_TEMPFAIL if it does not. -1: that has happened already. */
int source_end_watch(struct input *in, int status, struct err *e);

#endif
