/* options.h - the options of a program as a table. A row specifies how an option is written, where its value is stored
 * and its text in --help. The parser and the usage text both use the table.
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
 * A row stores its value in a struct that the caller passes to the parser. Tables are therefore constant, and several
 * of them can parse one command line (struct option_set): that of a command and those of the programs that it starts.
 *
 * -h, --help and --version are part of every table without being listed. Options and FILEs may be mixed, until `--`;
 * a long name may be abbreviated to a unique prefix. If an option is repeated, the last one counts, except for
 * OPTION_TEXTS and OPTION_PLACED.
 */
#ifndef BPE_BASE_CLI_OPTIONS_H
#define BPE_BASE_CLI_OPTIONS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is stored, and the type of the field. */
enum option_kind {
    OPTION_FLAG,    /* bool: takes no argument; set to true */
    OPTION_VALUE,   /* unsigned, or an enum: takes no argument; set to `first` */
    OPTION_TEXT,    /* const char *, borrowed from argv */
    OPTION_OUTPUT,  /* const char *, borrowed, not empty; `-` becomes NULL: standard output */
    OPTION_TEXTS,   /* struct option_texts: appended to it */
    OPTION_PLACED,  /* struct option_placed: appended to it, with its place: it applies to the FILEs after it, up to the
                       next one. It is not added to option_words, where it would have no place */
    OPTION_SIZE,    /* uint64_t: digits and K, M, G or T, powers of 1024 */
    OPTION_MEMORY,  /* uint64_t: like OPTION_SIZE, or N% of memory_limit() */
    OPTION_DATA,    /* uint64_t: an amount of data, such as 1.5TB; see num_data */
    OPTION_COUNT,   /* uint64_t: digits and k, M or G, powers of 1000 */
    OPTION_CHOICE,  /* unsigned, or an enum: one of `words`; `first` plus the index of the word, from 0 */
    OPTION_REFUSED, /* nothing is stored: the option is a usage error, with the message `help` (NULL: that of an unknown
                       option), and is not in --help. Commands use it for options of the programs that they start */
};

struct option_texts {
    const char **at; /* owned array; the texts are borrowed */
    size_t n;
};

struct option_placed {
    struct option_place {
        const char *text; /* borrowed */
        int n_files;      /* number of FILEs before it */
    } * at;               /* owned array */
    size_t n;
};

struct option_row {
    char letter;          /* `-S`; 0: none */
    const char *name;     /* `--memory`; NULL ends the table */
    const char *argument; /* the argument's name in the usage text; NULL if the option takes none */
    const char *help;     /* one or more lines, separated by \n */
    enum option_kind kind;
    size_t to;                             /* the field's offset in the struct; OPTION_TO sets it and `kind` */
    size_t given;                          /* OPTION_GIVEN: a bool, set to true if the option is given; 0: none */
    const char *if_none;                   /* the value if the argument is omitted; NULL: the argument is required */
    const char *const *words;              /* the choices of OPTION_CHOICE, or suggestions for completing OPTION_TEXT;
                                              ends with NULL */
    const char *const *(*get_words)(void); /* returns the words, if they are not constant; else NULL */
    unsigned first;                        /* see OPTION_CHOICE and OPTION_VALUE */
    /* Checks or further processes the argument (NULL: omitted) after it is stored in the struct `to`. May be NULL. */
    int (*check)(const char *argument, void *to, struct err *e);
};

/* The offset of a field; the compiler warns if its type is wrong. */
#define OPTION_OFFSET(type, owner, field) (offsetof(owner, field) + 0 * sizeof((type *)0 == &((owner *)0)->field))
#define OPTION_TO(what, owner, field) .kind = OPTION_##what, .to = OPTION_OFFSET(OPTION_##what##_TYPE, owner, field)
#define OPTION_GIVEN(owner, field) .given = 1 + OPTION_OFFSET(bool, owner, field)
#define OPTION_FLAG_TYPE bool
#define OPTION_VALUE_TYPE unsigned
#define OPTION_TEXT_TYPE const char *
#define OPTION_OUTPUT_TYPE const char *
#define OPTION_TEXTS_TYPE struct option_texts
#define OPTION_PLACED_TYPE struct option_placed
#define OPTION_SIZE_TYPE uint64_t
#define OPTION_MEMORY_TYPE uint64_t
#define OPTION_DATA_TYPE uint64_t
#define OPTION_COUNT_TYPE uint64_t
#define OPTION_CHOICE_TYPE unsigned

/* -h and --version, which every program has. */
extern const struct option_row options_every[];

/* Words for the command line of another program: mostly options, `--name` or `--name=value`. */
struct option_words {
    char **at; /* owned, as is each word; NULL after the last one. `at` itself is NULL if n is 0 */
    size_t n;
};

/* A table, and what to do with its options. */
struct option_set {
    const struct option_row *rows;
    void *to;                   /* the struct into which the rows store; not NULL */
    struct option_words *words; /* also collects the options as words, in the order and with the values given; may
                                   be NULL */
    bool only;                  /* hides options with the same name or letter in the other sets */
};

enum options_next {
    OPTIONS_WRONG = -1, /* usage error (EX_USAGE), or out of memory (EX_OSERR) */
    OPTIONS_RUN,        /* all options are stored */
    OPTIONS_HELP,       /* --help was found, with no error before it */
    OPTIONS_VERSION,
};

/* Parses a command line, and reorders argv so that options come first. Sets *first to the index in argv of the first
 * FILE, or to argc if there is none.
 *
 * An option in several sets is stored in each of them. If the sets disagree, the first set with the name decides
 * whether the option takes an argument, and the first set with a letter decides which name the letter stands for. */
enum options_next options_parse(const struct option_set *sets, size_t n_sets, int argc, char **argv, int *first,
                                struct err *e);

/* If set, options_parse calls this function with the tables of a command instead of parsing. It does not return. */
extern void (*options_instead)(const struct option_set *sets, size_t n_sets);

/* The row with this name, or NULL. */
const struct option_row *options_find(const struct option_row *rows, const char *name);

/* Whether a word is --NAME, or --NAME=VALUE. */
bool option_word_is(const char *word, const char *name);

/* Whether a word is one of these options; NULL after the last name. */
bool option_word_in(const char *word, const char *const *names);

/* Frees what the parser has allocated in the struct. */
void options_free(const struct option_row *rows, void *to);
void option_words_free(struct option_words *w);

/* Append a word, formatted as by printf, or a text, which is borrowed. */
int option_words_add(struct option_words *w, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int option_texts_add(struct option_texts *t, const char *text, struct err *e);

/* The text that applies to the FILE with this number, from 0; NULL: none. */
const char *option_placed_of(const struct option_placed *p, int file);

/* Appends to `out` the help of each option, one or more lines. */
int options_put_help(struct buf *out, const struct option_row *rows, struct err *e);

/* Appends the label and the names of all options, in lines of at most 93 columns, for the help of a command. Names that
 * are also in one of the tables `others` (NULL after the last) are omitted. */
int options_put_names(struct buf *out, const char *label, const struct option_row *rows,
                      const struct option_row *const *others, struct err *e);

#endif
