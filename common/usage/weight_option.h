/* weight_option.h - --weight: the factor for the counts of the FILEs after it.
 */
#ifndef BPE_USAGE_WEIGHT_OPTION_H
#define BPE_USAGE_WEIGHT_OPTION_H

#include "base/cli/options.h"
#include "base/sys/ratio.h"

/* Row of a table of options for a field of the struct `owner`, of type struct option_placed. */
/* clang-format off */
#define WEIGHT_OPTION(owner, field) \
    {0, "weight", "WEIGHT", "multiply the counts of the FILEs after it by WEIGHT (2, 1/3, 0.25)", \
     OPTION_TO(PLACED, owner, field), .check = weight_option_word}
/* clang-format on */

/* Checks the argument: a number greater than 0. -1 with EX_USAGE. */
int weight_option_word(const char *word, void *options, struct err *e);

/* Checks that a FILE follows the last weight. named: FILEs were given; else the weight is that of standard input, or of
 * a list of files. -1 with EX_USAGE. */
int weight_option_check(const struct option_placed *w, bool named, int n_files, struct err *e);

/* The weight of the FILE with this number, from 0. */
struct ratio weight_option_of(const struct option_placed *w, int file);

#endif
