/* resume_tail.h - the rest of a run that lacks its end (resume_ranges.h): all that is wanted of its sources, and the
 * promise, which is made now. It takes the same files as the run, in the same order.
 */
#ifndef BPE_CHUNK_RESUME_TAIL_H
#define BPE_CHUNK_RESUME_TAIL_H

#include "base/sys/err.h"
#include "chunk/chunk_writer.h"
#include "chunk/input_warnings.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes w->sources, as resume_ranges_read has set them, those of the whole run. files (borrowed) are all of the run.
 * by_value: text is sent also of files that others can read. asked_by: the list of what is wanted, for messages. -1:
 * EX_USAGE if these are not the run's files; EX_DATAERR if one has changed; as source_list_add. */
int resume_tail_match(struct chunk_writer *w, char **files, size_t n_files, bool by_value, const char *asked_by,
                      struct input_warnings *watch, struct err *e);

#endif
