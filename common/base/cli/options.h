/* options.h - the options of a program as a table: a row says how an option is written, where its value is stored, and
 * its text in --help. Parsing and the usage text come from the table.
 *
 *     struct settings {
 *         uint64_t memory;
 *         bool partial;
 *     };
 *     static const struct option_row rows[] = {
 *         {'S', "memory", "SIZE", "use about SIZE of memory", OPTION_TO(MEMORY, struct settings, memory)},
 *         {0, "partial", NULL, "write an incomplete sum too", OPTION_TO(FLAG, struct settings, partial)},
 *         {0},
 *     };
 *
 * A row stores into a struct that the caller names when it parses, so tables are constant, and several of them can read
 * one command line (struct option_set): that of a command and those of the programs that it starts.
 *
 * -h, --help and --version are part of every table without being listed. Options and FILEs may be mixed, until `--`;
 * a long name may be shortened as long as it is unique. If an option is given twice the last one counts, except for
 * OPTION_TEXTS.
 */
#ifndef BPE_BASE_CLI_OPTIONS_H
#define BPE_BASE_CLI_OPTIONS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is stored, and in a field of which type. */
enum option_kind {
    OPTION_FLAG,    /* bool: takes no argument, sets it */
    OPTION_VALUE,   /* unsigned, or an enum: takes no argument, sets it to `first` */
    OPTION_TEXT,    /* const char *, borrowed from argv */
    OPTION_OUTPUT,  /* const char *, borrowed; `-` becomes NULL, which stands for standard output; not empty */
    OPTION_TEXTS,   /* struct option_texts: added at its end */
    OPTION_SIZE,    /* uint64_t: digits and K, M, G or T, powers of 1024 */
    OPTION_MEMORY,  /* uint64_t: as OPTION_SIZE, or N% of memory_limit() */
    OPTION_DATA,    /* uint64_t: an amount of data, such as 1.5TB; see num_data */
    OPTION_COUNT,   /* uint64_t: digits and k, M or G, powers of 1000 */
    OPTION_CHOICE,  /* unsigned, or an enum: one of `words`; `first` plus the place of the word, from 0 */
    OPTION_REFUSED, /* nothing: wrong use, for which `help` is the message; NULL: the option is unknown. A command hides
                       an option of the programs that it starts in this way; --help does not show it */
};

struct option_texts {
    const char **at; /* owned; the texts are borrowed */
    size_t n;
};

struct option_row {
    char letter;          /* `-S`; 0: none */
    const char *name;     /* `--memory`; NULL ends the table */
    const char *argument; /* the argument's name in the usage text; NULL if the option takes none */
    const char *help;     /* a line or several, with \n between */
    enum option_kind kind;
    size_t to;                             /* the field's offset in the struct; kind and this by OPTION_TO */
    size_t given;                          /* OPTION_GIVEN: a bool, set if the option is given; 0: none */
    const char *if_none;                   /* the text if the argument is left out; NULL: it is required */
    const char *const *words;              /* of OPTION_CHOICE; ends with NULL. Of OPTION_TEXT: some that it may be,
                                              for completion */
    const char *const *(*get_words)(void); /* returns the words, if they are not constant; else NULL */
    unsigned first;                        /* see OPTION_CHOICE and OPTION_VALUE */
    /* Checks the argument (NULL: left out) after it is stored in the struct `to`, or does more. May be NULL. */
    int (*check)(const char *argument, void *to, struct err *e);
};

/* The offset of a field; the compiler warns if its type is another. */
#define OPTION_OFFSET(type, owner, field) (offsetof(owner, field) + 0 * sizeof((type *)0 == &((owner *)0)->field))
#define OPTION_TO(what, owner, field) .kind = OPTION_##what, .to = OPTION_OFFSET(OPTION_##what##_TYPE, owner, field)
#define OPTION_GIVEN(owner, field) .given = 1 + OPTION_OFFSET(bool, owner, field)
#define OPTION_FLAG_TYPE bool
#define OPTION_VALUE_TYPE unsigned
#define OPTION_TEXT_TYPE const char *
#define OPTION_OUTPUT_TYPE const char *
#define OPTION_TEXTS_TYPE struct option_texts
#define OPTION_SIZE_TYPE uint64_t
#define OPTION_MEMORY_TYPE uint64_t
#define OPTION_DATA_TYPE uint64_t
#define OPTION_COUNT_TYPE uint64_t
#define OPTION_CHOICE_TYPE unsigned

/* -h and --version, which every program has. */
extern const struct option_row options_every[];

/* Words: mostly options for the command line of another program, `--name` or `--name=value`. */
struct option_words {
    char **at; /* owned, as each word; NULL after the last (at itself is NULL if n is 0) */
    size_t n;
};

/* A table, and what becomes of the options that it has. */
struct option_set {
    const struct option_row *rows;
    void *to;                   /* the struct into which the rows store; not NULL */
    struct option_words *words; /* its options are added here, too, in the order in which they were given, their values
                                   as they were given; NULL: not */
    bool only;                  /* a name or letter that it has means nothing in the other sets */
};

enum options_next {
    OPTIONS_WRONG = -1, /* wrong use: EX_USAGE (or EX_OSERR) */
    OPTIONS_RUN,        /* all options are stored */
    OPTIONS_HELP,       /* --help was found, and no error before it */
    OPTIONS_VERSION,
};

/* Parses a command line, and reorders argv so that options come first. *first: the index in argv of the first FILE,
 * argc if there is none.
 *
 * An option that several sets have is stored in each of them. Where they differ, the first set with that name decides
 * whether it takes an argument, and the first set with a letter which name that is. */
enum options_next options_parse(const struct option_set *sets, size_t n_sets, int argc, char **argv, int *first,
                                struct err *e);

/* If it is set, options_parse calls this, and does nothing else: for what is to know the tables of a command. It does
 * not return. */
extern void (*options_instead)(const struct option_set *sets, size_t n_sets);

/* The row of that name, or NULL. */
const struct option_row *options_find(const struct option_row *rows, const char *name);

/* Whether a word is --NAME, or --NAME=VALUE. */
bool option_word_is(const char *word, const char *name);

/* Whether it is one of these; NULL after the last name. */
bool option_word_in(const char *word, const char *const *names);

/* Releases what parsing has allocated in the struct. */
void options_free(const struct option_row *rows, void *to);
void option_words_free(struct option_words *w);

/* Appends a word of printf form; a text (borrowed). */
int option_words_add(struct option_words *w, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int option_texts_add(struct option_texts *t, const char *text, struct err *e);

/* Appends to `out` a line or more for each option, with its help. */
int options_put_help(struct buf *out, const struct option_row *rows, struct err *e);

/* Appends the names alone, after the label, in lines of at most 93 columns: for the help of a command. Names that one
 * of these other tables has are left out; NULL after the last table. */
int options_put_names(struct buf *out, const char *label, const struct option_row *rows,
                      const struct option_row *const *others, struct err *e);

#endif
