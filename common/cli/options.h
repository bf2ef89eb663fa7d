/* options.h - the options of a program as a table: a row says how an option is written, where its value is stored, and
 * its text in --help. Parsing and the usage text come from the table.
 *
 *     static const struct option_row options[] = {
 *         {'S', "memory", "SIZE", "use about SIZE of memory", .kind = OPTION_MEMORY, .to.number = &self.memory},
 *         {0, "partial", NULL, "write an incomplete sum too", .kind = OPTION_FLAG, .to.flag = &self.partial},
 *         {0},
 *     };
 *
 * -h, --help and --version are part of every table without being listed. Options and FILEs may be mixed, until `--`;
 * a long name may be shortened as long as it is unique (see getopt_long(3)). If an option is given twice the last one
 * counts, except for OPTION_TEXTS.
 */
#ifndef BPE_CLI_OPTIONS_H
#define BPE_CLI_OPTIONS_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,   /* takes no argument: sets to.flag */
    OPTION_VALUE,  /* takes no argument: to.choice becomes `first` */
    OPTION_TEXT,   /* to.text, borrowed from argv */
    OPTION_OUTPUT, /* to.text, borrowed; `-` becomes NULL, which stands for standard output */
    OPTION_TEXTS,  /* added at the end of to.texts: the list is owned by the program, the texts are borrowed */
    OPTION_SIZE,   /* to.number: digits and K, M, G or T, powers of 1024 */
    OPTION_MEMORY, /* to.number: as OPTION_SIZE, or N% of memory_limit() */
    OPTION_COUNT,  /* to.number: digits and k, M or G, powers of 1000 */
    OPTION_CHOICE, /* one of `words`: to.choice becomes `first` plus the place of the word, from 0 */
};

struct option_row {
    char letter;          /* `-S`; 0: none */
    const char *name;     /* `--memory`; NULL ends the table */
    const char *argument; /* the argument's name in the usage text; NULL if the option takes none */
    const char *help;     /* a line or several, with \n between */
    enum option_kind kind;
    union {
        bool *flag;
        const char **text;
        uint64_t *number;
        unsigned *choice; /* or an enum */
        struct {
            const char ***list;
            size_t *n;
        } texts;
    } to;
    bool *given;                           /* set to true if the option is given; may be NULL */
    const char *if_none;                   /* the text if the argument is left out; NULL: it is required */
    const char *const *words;              /* of OPTION_CHOICE; ends with NULL */
    const char *const *(*get_words)(void); /* returns the words, if they are not constant; else NULL */
    unsigned first;                        /* see OPTION_CHOICE and OPTION_VALUE */
    const char *old_name;                  /* another long name that works; --help does not show it. NULL: none */
    /* Checks the argument after it is stored (NULL if it was left out), or does more. May be NULL. */
    int (*check)(const char *argument, struct err *e);
};

enum options_next {
    OPTIONS_WRONG = -1, /* wrong use: EX_USAGE (or EX_OSERR) */
    OPTIONS_RUN,        /* all options are stored */
    OPTIONS_HELP,       /* --help was found, and no error before it */
    OPTIONS_VERSION,
};

/* Parses the command line, and reorders argv so that options come first. *first: the index in argv of the first FILE,
 * argc if there is none. */
enum options_next options_parse(const struct option_row *rows, int argc, char **argv, int *first, struct err *e);

/* Appends a text (borrowed) to a list of *n, as OPTION_TEXTS does. */
int options_add_text(const char ***list, size_t *n, const char *text, struct err *e);

/* Appends to `out` a line or more for each option, with its help. */
int options_put_help(struct buf *out, const struct option_row *rows, struct err *e);

#endif
