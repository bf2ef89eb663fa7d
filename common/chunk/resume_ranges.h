/* resume_ranges.h - the ranges that --missing (of bpe-sum, bpe-shard) asks for, which are to be sent again (bpe-chunk
 * --only).
 *
 * If all of the run is known, these are ranges of some of its sources. But if its promise never came, it lacks its
 * end: a range of the last source that is known goes to UINT64_MAX, and stands for all sources after it as well; and
 * its promise is made now.
 */
#ifndef BPE_CHUNK_RESUME_RANGES_H
#define BPE_CHUNK_RESUME_RANGES_H

#include "base/sys/err.h"
#include "chunk/chunk_writer.h"
#include "chunk/input_warnings.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads run, rules, sources and wanted ranges from a file of range records. *reading is set to how the first source
 * is read, encoded; borrowed from w. If the run lacks its end, w->rest is set, and w->reading is that of the first
 * source, too. -1: EX_NOINPUT, EX_IOERR, EX_DATAERR. An empty file changes nothing. */
int resume_ranges_read(struct chunk_writer *w, const char *path, struct str *reading, struct err *e);

/* Finds the file to read for each wanted source: one of `files` (borrowed) that has its name, or, if it was by
 * reference, the file of this name. by_value: the text is sent even so. asked_by: the list, for messages. If the run
 * lacks its end, w->sources become those of the whole run, and `files` must be all of its files, in the same order. -1:
 * EX_USAGE if there is no such file, these are not the run's files, or by_value is asked for a compressed file by
 * reference; EX_NOINPUT, EX_DATAERR if one has changed; as source_list_add. */
int resume_ranges_match(struct chunk_writer *w, char **files, size_t n_files, bool by_value, const char *asked_by,
                        struct input_warnings *watch, struct err *e);

#endif
