/* jsonl_reader.h - the lines of a JSON Lines text, window by window: the text in each line, bad lines, and the number
 * of a line for messages.
 *
 * In a file that is read by reference a piece begins anywhere, so the number of its first line is not known. It is
 * counted when a message needs it, at most once for a piece: from the nearest place before it whose line number is
 * known.
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
    struct jsonl id;              /* reads the id of a document; its field is empty if none is wanted */
    struct buf long_id, clean_id; /* an id of a long line; without its invalid bytes */
    bool check_utf8, skip_bad;
    struct doc_piece piece; /* the current one; first_line is set when it is counted */
    /* A line that is too long for memory: read part by part (long_line.h), from its file again or, if it is in none,
     * from a temporary file. */
    size_t longest;              /* bytes of a line at the end of a window that make it one; at least 16 */
    struct spilled_line spilled; /* what was read of it; its name is NULL if there is none */
    uint64_t spilled_begin;      /* its offset in the source */
};

#endif
