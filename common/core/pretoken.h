/* pretoken.h - a string of bytes and how often it occurred: what the count table, the records and the trainer hand to
 * each other. */
#ifndef BPE_CORE_PRETOKEN_H
#define BPE_CORE_PRETOKEN_H

#include <stddef.h>
#include <stdint.h>

#define PRETOKEN_PAD 24 /* bytes that must be readable after the last of a "padded" pretoken (any content) */

struct pretoken {
    const unsigned char *p; /* borrowed; not terminated */
    size_t len;             /* > 0 */
    uint64_t count;         /* > 0 */
};

#endif
