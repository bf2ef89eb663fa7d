/* jsonl_reader.h - reads the lines of a JSON Lines source, window by window: the text in each line, bad lines, and line
 * numbers for messages.
 *
 * In a file by reference a piece begins anywhere, so the number of its first line is not known. When a message needs
 * it, at most once per piece, the lines are counted from the nearest place whose line number is known.
 */
#ifndef BPE_INPUT_JSONL_READER_H
#define BPE_INPUT_JSONL_READER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "input/input_form.h"
#include "input/jsonl.h"
#include "input/spilled_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonl_reader { /* the reader of input_form_jsonl */
    struct doc_reader doc;
    struct jsonl jsonl;
    struct jsonl id;              /* reads the id of a document; its field is empty without --id */
    struct buf long_id, clean_id; /* the id of a long line; an id without its invalid bytes */
    bool check_utf8, skip_bad;
    struct doc_piece piece; /* the current piece; first_line is set when it has been counted */
    /* A line that is too long for memory is read part by part (long_line.h), from its file again or, if it is not in a
     * file, from a temporary file. */
    size_t longest;              /* a line with this many bytes at the end of a window is too long; at least 16 */
    struct spilled_line spilled; /* what was read of it; its name is NULL if there is no such line */
    uint64_t spilled_begin;      /* its offset in the source */
};

#endif
