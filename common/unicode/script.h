/* script.h - the scripts of characters: those in common use by name, as Unicode's property Script has them. PCRE2's
 * tables are used, so a character that is newer than PCRE2 has none. */
#ifndef BPE_UNICODE_SCRIPT_H
#define BPE_UNICODE_SCRIPT_H

#include "base/sys/err.h"

#include <stdint.h>

enum { SCRIPT_NONE, N_SCRIPTS = 43 }; /* SCRIPT_NONE: a character that all scripts use, or of none */

extern const char *const script_names[N_SCRIPTS]; /* the last one stands for all others */

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

struct scripts {                           /* zeroed: not open */
    struct pcre2_real_code_8 *code;        /* owned */
    struct pcre2_real_match_data_8 *match; /* owned */
    unsigned char *known;                  /* owned; by code point: 1 + its script; 0: not looked up yet */
};

/* -1: out of memory, or EX_SOFTWARE: this PCRE2 does not know the scripts. Call scripts_close in any case. */
int scripts_open(struct scripts *s, struct err *e);
void scripts_close(struct scripts *s);

/* The script of a code point, which must not be a surrogate: an index in script_names. */
unsigned scripts_of(const struct scripts *s, uint32_t code_point);

#endif
