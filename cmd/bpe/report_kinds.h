/* report_kinds.h - what kind of text a token is: its script, or numbers, white space, punctuation, parts of
 * characters. */
#ifndef BPE_CMD_REPORT_KINDS_H
#define BPE_CMD_REPORT_KINDS_H

#include "base/sys/str.h"
#include "unicode/script.h"

enum report_kind {
    KIND_PARTS,       /* not whole characters: its bytes are not UTF-8 */
    KIND_SPACE,       /* only white space */
    KIND_NUMBER,      /* no letter, but a digit */
    KIND_PUNCTUATION, /* neither */
    KIND_SCRIPT,      /* from here on: the script of the first letter, from 1 on */
    REPORT_KINDS = KIND_SCRIPT + N_SCRIPTS - 1,
};

const char *report_kind_name(enum report_kind kind);

/* The kind of a text, which may be any bytes. */
enum report_kind report_kind_of(const struct scripts *s, struct str text);

#endif
