/* options.h - the options of a program as a table: a row says how an option is written, where its value goes, and what
 * --help says of it. Parsing and the usage text come from the table.
 *
 *     static const struct option_row options[] = {
 *         {'S', "memory", "SIZE", "use about SIZE of memory", .kind = OPTION_SIZE, .to.number = &self.memory},
 *         {0, "partial", NULL, "write an incomplete sum too", .kind = OPTION_FLAG, .to.flag = &self.partial},
 *         {0},
 *     };
 *
 * -h, --help and --version are in every table without being written there. Options and FILEs may be mixed, until `--`;
 * the name of a long option may be shortened as long as it means only one (as getopt_long(3) has it). An option given
 * again replaces what was given before, but for OPTION_TEXTS.
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
    OPTION_COUNT,  /* to.number: digits and k, M or G, powers of 1000 */
    OPTION_CHOICE, /* one of `words`: to.choice becomes `first` plus the place of the word, from 0 */
};

struct option_row {
    char letter;          /* `-S`; 0: none */
    const char *name;     /* `--memory`; NULL ends the table */
    const char *argument; /* what the usage calls the argument; NULL where there is none */
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
    bool *given;                           /* set to true where the option is given; NULL: nobody asks */
    const char *if_none;                   /* the text where there is no argument, which may then be left out */
    const char *const *words;              /* of OPTION_CHOICE; ends with NULL */
    const char *const *(*get_words)(void); /* the same where they come from elsewhere; else NULL */
    unsigned first;                        /* see OPTION_CHOICE and OPTION_VALUE */
    const char *old_name;                  /* another long name that works; --help does not show it. NULL: none */
    /* Looks at the argument when it is stored (NULL where it was left out), or does more. May be NULL. */
    int (*check)(const char *argument, struct err *e);
};

enum options_next {
    OPTIONS_WRONG = -1, /* wrong use: EX_USAGE (or EX_OSERR) */
    OPTIONS_RUN,        /* all options are stored */
    OPTIONS_HELP,       /* --help came, and nothing wrong before it */
    OPTIONS_VERSION,
};

/* Reads the command line, and reorders argv: options come first. *first: the place in argv of the first FILE, argc if
 * there is none. */
enum options_next options_parse(const struct option_row *rows, int argc, char **argv, int *first, struct err *e);

/* Adds a text (borrowed) at the end of a list of *n, as OPTION_TEXTS does. */
int options_add_text(const char ***list, size_t *n, const char *text, struct err *e);

/* Appends to `out` a line or more for each option, with its help. */
int options_put_help(struct buf *out, const struct option_row *rows, struct err *e);

#endif
