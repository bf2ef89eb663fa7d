/* long_line.h - reads the text in a line of JSON Lines that is too long for memory. The line is read several times:
 * first to check the whole line and find the string that counts, then to pass that string on part by part. So nothing
 * of a bad line is passed on, and the memory needed does not depend on its length. The result is that of jsonl_read.
 */
#ifndef BPE_INPUT_LONG_LINE_H
#define BPE_INPUT_LONG_LINE_H

#include "input/doc_reader.h"
#include "input/jsonl.h"
#include "input/spilled_line.h"

/* Reads the line (with or without its newline). bad_byte: with INVALID_ERROR, the offset of the first byte that is not
 * UTF-8, which makes the line JSONL_ERROR; UINT64_MAX: there is none. */
enum jsonl_line long_line_read(struct jsonl *j, struct spilled_line *line, document_fn *text, void *ctx,
                               uint64_t *bad_byte, struct err *e);

#endif
