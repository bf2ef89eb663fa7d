/* chunks.h - writes all records of a run of bpe-chunk: the pieces of each source, by reference or by value, and the
 * promise.
 */
#ifndef BPE_CHUNK_CHUNKS_H
#define BPE_CHUNK_CHUNKS_H

#include "base/sys/err.h"
#include "chunk/chunk_writer.h"
#include "chunk/input_warnings.h"
#include "chunk/text_splitter.h"
#include "input/cut.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the writer's sources and writes their records. block: the size of pieces; 0: chosen here (chunk_plan.h). only:
 * writes only the wanted ranges, and the promise only if w->rest. `watch` sees all text that is read; `seen` is called
 * as text by value is sent, and may be NULL. -1: EX_NOINPUT, EX_IOERR, or an error of text_splitter.h. */
int chunks_write(struct chunk_writer *w, const struct cutter *cutter, uint64_t block, bool only,
                 struct input_warnings *watch, const struct chunk_seen *seen, struct err *e);

/* Accepts the end of a text from a pipe only if the program that writes it has succeeded. The end of the pipe looks the
 * same if that program has failed or was killed.
 *
 * The process that starts the writer, and so learns its exit status, holds the other end of a second pipe, whose
 * descriptor bpe-chunk gets by --input-status, here as `status`. At the end of the text, one byte is awaited there: 0,
 * sent after the writer has finished successfully. If that pipe ends without it, for example because its holder was
 * killed, the text is cut off. Then nothing is written that the missing text might change: not the last piece, no
 * promise and no failure. -1: EX_TEMPFAIL if it is cut off, or EX_IOERR. */
int chunks_confirm_end(int status, struct err *e);

#endif
