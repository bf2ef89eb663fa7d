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

#endif
