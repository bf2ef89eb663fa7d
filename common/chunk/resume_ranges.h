/* resume_ranges.h - reads the list that --missing (of bpe-sum, bpe-shard) writes: the ranges that bpe-chunk --only must
 * send again.
 *
 * If the whole run is known, these are ranges of some of its sources. But if its promise never arrived, the run lacks
 * its end: a range of the last known source goes to UINT64_MAX, and stands for all sources after it as well. In
 * this case bpe-chunk --only also writes the promise.
 */
#ifndef BPE_CHUNK_RESUME_RANGES_H
#define BPE_CHUNK_RESUME_RANGES_H

#include "base/sys/err.h"
#include "chunk/chunk_writer.h"
#include "chunk/input_warnings.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads run, rules, sources and wanted ranges from a file of range records. *reading is set to the encoded reading of
 * the first source, borrowed from w. If the run lacks its end, w->rest is set, and w->reading is that reading, too. -1:
 * EX_NOINPUT, EX_IOERR, EX_DATAERR. An empty file changes nothing. */
int resume_ranges_read(struct chunk_writer *w, const char *path, struct str *reading, struct err *e);

/* Finds the file to read for each wanted source: the one of `files` (borrowed) with its name or, if the source is by
 * reference, the file of that name. by_value: the text is sent in any case. asked_by: the name of the list, for
 * messages. If the run lacks its end, w->sources become those of the whole run, and `files` must be all of its files,
 * in the same order. -1: EX_USAGE if there is no such file, these are not the run's files, or by_value applies to
 * ranges of a compressed file; EX_NOINPUT; EX_DATAERR if a file has changed; or an error of source_list_add. */
int resume_ranges_match(struct chunk_writer *w, char **files, size_t n_files, bool by_value, const char *asked_by,
                        struct input_warnings *watch, struct err *e);

#endif
