/* word.h - a string of bytes and how often it occurred: what the count table, the records and the trainer hand to each
 * other. */
#ifndef BPE_SYS_WORD_H
#define BPE_SYS_WORD_H

#include <stddef.h>
#include <stdint.h>

#define WORD_PAD 24 /* bytes past a word's last that must be readable, where a function says it takes padded words */

struct word {
    const unsigned char *p; /* borrowed; not terminated */
    size_t len;             /* > 0 */
    uint64_t count;         /* > 0 */
};

#endif
