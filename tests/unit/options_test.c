/* options_test.c - options of each kind in each form; refused options and messages; abbreviations, `--`; several tables
 * at once, and the words for other programs; suggestions for mistyped words; the text of --help. */
#include "../unit/tap.h"
#include "base/cli/options.h"
#include "base/sys/memory.h"
#include "base/sys/nearest.h"

#include <stdlib.h>
#include <string.h>

enum colour { NONE, RED, GREEN, BLUE };

static struct settings {
    bool flag, has_word, has_colour, has_size;
    const char *word, *field, *output;
    struct option_texts list;
    uint64_t size, count, memory, data;
    enum colour colour;
    unsigned order, from;
    int n_checks;
} self;

static const char *const colours[] = {"red", "green", "blue", NULL}, *const taken_from[] = {"one", "two", NULL};

static const char *const *get_words(void)
{
    return taken_from;
}

static int check_size(const char *word, void *to, struct err *e)
{
    struct settings *s = to;
    s->n_checks++;
    return s->size == 13 ? err_set(e, EX_USAGE, "-S %s: is not allowed", word) : 0;
}

static int check_field(const char *word, void *to, struct err *e)
{
    (void)to;
    return word && !*word ? err_set(e, EX_USAGE, "--field=: has no name") : 0;
}

static const struct option_row rows[] = {
    {'f', "flag", NULL, "a flag", OPTION_TO(FLAG, struct settings, flag)},
    {'w', "word", "WORD", "a word", OPTION_TO(TEXT, struct settings, word), OPTION_GIVEN(struct settings, has_word)},
    {0, "field", "NAME", "a field", OPTION_TO(TEXT, struct settings, field), .if_none = "text", .check = check_field},
    {'o', "output", "PATH", "where to", OPTION_TO(OUTPUT, struct settings, output)},
    {'s', "special-token", "TOKEN", "a token;\nseveral lines", OPTION_TO(TEXTS, struct settings, list)},
    {'S', "size", "SIZE", "a size", OPTION_TO(SIZE, struct settings, size), OPTION_GIVEN(struct settings, has_size),
     .check = check_size},
    {'n', "count", "N", "a count", OPTION_TO(COUNT, struct settings, count)},
    {'c', "colour", "WHICH", "a colour", OPTION_TO(CHOICE, struct settings, colour), .words = colours, .first = RED,
     OPTION_GIVEN(struct settings, has_colour)},
    {'D', "data", "SIZE", "an amount of data", OPTION_TO(DATA, struct settings, data)},
    {0, "memory", "SIZE", "memory", OPTION_TO(MEMORY, struct settings, memory)},
    {0, "from", "WHERE", "words from a function", OPTION_TO(CHOICE, struct settings, from), .get_words = get_words},
    {0, "special-first", NULL, "first", OPTION_TO(VALUE, struct settings, order), .first = 1},
    {0, "special-last", NULL, "last", OPTION_TO(VALUE, struct settings, order), .first = 2},
    {0},
};

enum { WORDS = 12 };
static char *argv[WORDS + 2];
static int argc, first;
static struct err e;

/* Splits a command line at blanks; `_` stands for an empty word. */
static void split(const char *line)
{
    static char words[200];
    memset(&e, 0, sizeof e);
    snprintf(words, sizeof words, "%s", line);
    argc = 0;
    argv[argc++] = "program";
    for (char *p = strtok(words, " "); p && argc <= WORDS; p = strtok(NULL, " "))
        argv[argc++] = strcmp(p, "_") == 0 ? "" : p;
    argv[argc] = NULL;
}

static enum options_next parse(const char *line)
{
    const struct option_set set = {.rows = rows, .to = &self};
    options_free(rows, &self);
    memset(&self, 0, sizeof self);
    self.from = 9;
    split(line);
    return options_parse(&set, 1, argc, argv, &first, &e);
}

static void right(const char *line, int n_files)
{
    tap_ok(parse(line) == OPTIONS_RUN && argc - first == n_files && e.code == 0, "%s: options, and %d FILEs", line,
           n_files);
}

static void wrong(const char *line, const char *message)
{
    enum options_next next = parse(line);
    if (!tap_ok(next == OPTIONS_WRONG && e.code == EX_USAGE && strcmp(e.msg, message) == 0, "%s: %s", line, message))
        tap_note("got %d, %d: %s", (int)next, e.code, e.msg);
}

static bool is(const char *got, const char *wanted)
{
    return got && strcmp(got, wanted) == 0;
}

static void test_kinds(void)
{
    right("", 0);
    tap_ok(!self.flag && !self.word && !self.has_word && self.list.n == 0 && self.colour == NONE,
           "  nothing is changed");
    right("-f", 0);
    tap_ok(self.flag, "  a flag, by its letter");
    right("--flag a b", 2);
    tap_ok(self.flag && is(argv[first], "a") && is(argv[first + 1], "b"), "  by its name, with FILEs");
    for (const char *const *line = (const char *const[]){"-w x", "-wx", "--word x", "--word=x", NULL}; *line; line++) {
        right(*line, 0);
        tap_ok(is(self.word, "x") && self.has_word, "  a text");
    }
    right("-w _ a", 1);
    tap_ok(is(self.word, "") && self.has_word, "  may be empty");
    right("-w x -w y", 0);
    tap_ok(is(self.word, "y"), "  the last value counts");
    right("--word=-f", 0);
    tap_ok(is(self.word, "-f") && !self.flag, "  after =, it may be the name of an option");
    right("-w -9", 0);
    tap_ok(is(self.word, "-9"), "  it may begin with a dash");
    right("--field x", 1);
    tap_ok(is(self.field, "text") && is(argv[first], "x"), "  an optional argument needs =, and has a default");
    right("--field=a.b", 0);
    tap_ok(is(self.field, "a.b"), "  an optional argument after =");
    right("-o -", 0);
    tap_ok(self.output == NULL, "  - is standard output");
    right("-o - -o out -f", 0);
    tap_ok(is(self.output, "out"), "  a file name replaces it");
    right("-s a -sb --special-token=c=7 --special-token d -s a", 0);
    tap_ok(self.list.n == 5 && is(self.list.at[0], "a") && is(self.list.at[1], "b") && is(self.list.at[2], "c=7") &&
               is(self.list.at[3], "d") && is(self.list.at[4], "a"),
           "  a list has all values, in order");
    right("-S 4k --count=4k", 0);
    tap_ok(self.size == 4096 && self.count == 4000 && self.has_size, "  k is 1024 in sizes, 1000 in counts");
    right("--memory=4k", 0);
    tap_ok(self.memory == 4096, "  memory is a size");
    right("--memory=25%", 0);
    tap_ok(self.memory == memory_limit() / 10000 * 2500, "  or a percentage of the available memory");
    right("--memory 0.07%", 0);
    tap_ok(self.memory == memory_limit() / 10000 * 7, "  down to hundredths of a percent");
    right("--memory=100%", 0);
    tap_ok(self.memory == memory_limit() / 10000 * 10000, "  up to 100 %%");
    right("-c red", 0);
    tap_ok(self.colour == RED && self.has_colour, "  the first word of a choice");
    right("--colour=blue", 0);
    tap_ok(self.colour == BLUE, "  and the last");
    right("--from two", 0);
    tap_ok(self.from == 1, "  the words come from a function");
    right("--special-last", 0);
    tap_ok(self.order == 2, "  an option that sets a value");
    right("--special-last --special-first", 0);
    tap_ok(self.order == 1, "  the last of these options counts");
}

static void test_data(void)
{
    static const struct {
        const char *line;
        uint64_t bytes;
    } amounts[] = {{"-D 7", 7},
                   {"-D 7B", 7},
                   {"-D 5TB", 5000000000000},
                   {"-D 5tb", 5000000000000},
                   {"-D 5T", (uint64_t)5 << 40},
                   {"-D 5TiB", (uint64_t)5 << 40},
                   {"-D 300GB", 300000000000},
                   {"-D 300g", (uint64_t)300 << 30},
                   {"-D 1.5TB", 1500000000000},
                   {"-D 1.5K", 1536},
                   {"-D 0.25kB", 250},
                   {"-D 64M", 64 << 20},
                   {"-D 2PB", 2000000000000000},
                   {"-D 0", 0}};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        right(amounts[i].line, 0);
        tap_ok(self.data == amounts[i].bytes, "  %llu bytes", (unsigned long long)amounts[i].bytes);
    }
    for (const char *const *word =
             (const char *const[]){"_", "x", "T", "-1", "5X", "5TBs", "5iB", "5BB", "5TT", ".5T", "5.T", "1.2.3",
                                   "5,5T", "0x10", "5e3", "inf", "99999999P", NULL};
         *word; word++) {
        char line[80], message[200];
        snprintf(line, sizeof line, "--data=%s", strcmp(*word, "_") == 0 ? "" : *word);
        snprintf(message, sizeof message,
                 "-D %s: not a size; examples: 5TB (powers of 1000), 1.5T or 64M (powers of 1024)", line + 7);
        wrong(line, message);
    }
}

static void test_forms(void)
{
    right("", 0);
    right("a b", 2);
    tap_ok(is(argv[1], "a") && is(argv[2], "b"), "  FILEs alone");
    right("a -w x b -f -- c -f", 4);
    tap_ok(is(argv[1], "-w") && is(argv[2], "x") && is(argv[3], "-f") && is(argv[4], "--") && is(argv[5], "a") &&
               is(argv[6], "b") && is(argv[7], "c") && is(argv[8], "-f") && !argv[9],
           "  options are moved before FILEs; both keep their order");
    right("-fwx a", 1);
    tap_ok(self.flag && is(self.word, "x"), "  letters together");
    right("a -f b -w x c", 3);
    tap_ok(self.flag && is(self.word, "x") && is(argv[first], "a") && is(argv[first + 2], "c"),
           "  options may follow FILEs");
    right("-f -- -w x", 2);
    tap_ok(self.flag && !self.word && is(argv[first], "-w"), "  but not after --");
    right("- -f", 1);
    tap_ok(is(argv[first], "-"), "  - is a FILE");
    right("--wo=x --col green", 0);
    tap_ok(is(self.word, "x") && self.colour == GREEN, "  abbreviated names");
    right("--special-t=a --special-to b", 0);
    tap_ok(self.list.n == 2 && is(self.list.at[0], "a") && is(self.list.at[1], "b"), "  with different abbreviations");
}

static void test_placed(void)
{
    static struct {
        struct option_placed at;
        bool flag;
    } to;
    static const struct option_row placed_rows[] = {{0, "at", "X", "", .kind = OPTION_PLACED}, {0}};
    char line[][8] = {"x", "a", "--at=1", "b", "--at", "2", "--at=3", "c", "-", "--at=4", "--", "--at=5"};
    char *words[13] = {NULL};
    struct option_words none = {0};
    const struct option_set set = {.rows = placed_rows, .to = &to, .words = &none};
    int begin;
    for (size_t i = 0; i < 12; i++)
        words[i] = line[i];
    tap_ok(options_parse(&set, 1, 12, words, &begin, &e) == OPTIONS_RUN && 12 - begin == 5 && to.at.n == 4,
           "options with a place");
    const char *const want[] = {NULL, "1", "3", "3", "4"};
    size_t wrong_places = 0;
    for (int i = 0; i < 5; i++) {
        const char *text = option_placed_of(&to.at, i);
        wrong_places += want[i] ? !text || !is(text, want[i]) : text != NULL;
    }
    tap_ok(!wrong_places, "  apply to the FILEs after them, up to the next; before the first, none does");
    tap_ok(none.n == 0, "  and are not among the words for other programs, where they would have no place");
    options_free(placed_rows, &to);
    tap_ok(!to.at.at && to.at.n == 0, "  and are freed");
}

static void test_wrong(void)
{
    wrong("-Z", "unknown option -Z; see --help");
    wrong("-fZ", "unknown option -Z; see --help");
    wrong("--nonsense", "unknown option --nonsense; see --help");
    wrong("--nonsense=flag", "unknown option --nonsense=flag; see --help");
    wrong("--=x", "unknown option --=x; see --help");
    wrong("--flag=x", "option --flag takes no argument; see --help");
    wrong("--f", "option --f is ambiguous: --flag, --field, --from; see --help");
    wrong("--special-", "option --special- is ambiguous: --special-token, --special-first, --special-last; see --help");
    wrong("--word-", "unknown option --word-; did you mean --word? see --help");
    wrong("--szie=4k", "unknown option --szie=4k; did you mean --size? see --help");
    wrong("-c bleu", "-c bleu: must be one of red, green, blue; did you mean blue?");
    wrong("-c -f", "option -c needs an argument: \"-f\" is an option; see --help");
    wrong("-w -f", "option -w needs an argument: \"-f\" is an option; see --help");
    wrong("--count --memory=1", "option --count needs an argument: \"--memory=1\" is an option; see --help");
    wrong("-c -x", "-c -x: must be one of red, green, blue");
    wrong("--count -1", "-n -1: not a number; digits and at most one of kMG are allowed");
    wrong("-w", "option -w needs an argument; see --help");
    wrong("a --word", "option --word needs an argument; see --help");
    wrong("-c", "option -c needs an argument, such as --colour=red; see --help");
    wrong("a --from", "option --from needs an argument, such as --from=one; see --help");
    wrong("-S 5X", "-S 5X: not a number; digits and at most one of KMGT are allowed");
    wrong("--size=x", "-S x: not a number; digits and at most one of KMGT are allowed");
    wrong("-S 5%", "-S 5%: not a number; digits and at most one of KMGT are allowed");
    wrong("--memory=100.1%", "--memory 100.1%: not a percentage up to 100%");
    wrong("--memory=1.2.3%", "--memory 1.2.3%: not a percentage up to 100%");
    wrong("--memory=-1%", "--memory -1%: not a number; digits and at most one of KMGT are allowed");
    wrong("--memory=%", "--memory %: not a number; digits and at most one of KMGT are allowed");
    wrong("--memory=1e1%", "--memory 1e1%: not a number; digits and at most one of KMGT are allowed");
    wrong("-n 99999999999999999999", "-n 99999999999999999999: too large");
    wrong("-c pink", "-c pink: must be one of red, green, blue");
    wrong("--colour=", "-c : must be one of red, green, blue");
    wrong("--from three", "--from three: must be one of one, two");
    wrong("-S 13", "-S 13: is not allowed");
    tap_ok(self.n_checks == 1, "  checked once");
    wrong("--field=", "--field=: has no name");
    wrong("--field nothing.here a",
          "nothing.here: no such file; the argument of --field comes after =: --field=nothing.here");
    wrong("-o _", "-o: the path is empty");
    wrong("--output=", "-o: the path is empty");
    wrong("-f -Z --help", "unknown option -Z; see --help");
}

static void test_help(void)
{
    static const char wanted[] = "  -f, --flag             a flag\n"
                                 "  -w, --word=WORD        a word\n"
                                 "      --field[=NAME]     a field\n"
                                 "  -o, --output=PATH      where to\n"
                                 "  -s, --special-token=TOKEN\n"
                                 "                         a token;\n"
                                 "                         several lines\n"
                                 "  -S, --size=SIZE        a size\n"
                                 "  -n, --count=N          a count\n"
                                 "  -c, --colour=WHICH     a colour\n"
                                 "  -D, --data=SIZE        an amount of data\n"
                                 "      --memory=SIZE      memory\n"
                                 "      --from=WHERE       words from a function\n"
                                 "      --special-first    first\n"
                                 "      --special-last     last\n"
                                 "  -h, --help             show this help\n"
                                 "      --version          show the version\n";
    static const struct option_row wide[] = {
        {0, "max-token-length", "N", "wide", OPTION_TO(COUNT, struct settings, count)},
        {0, "no-name-is-as-long-as-this", NULL, "this is not", .kind = OPTION_REFUSED},
        {0}};
    struct buf out = {0};
    tap_ok(parse("-f --help -Z") == OPTIONS_HELP && parse("-h") == OPTIONS_HELP && parse("--he") == OPTIONS_HELP,
           "--help, whatever follows it");
    tap_ok(parse("--version -Z") == OPTIONS_VERSION, "--version");
    wrong("-V", "unknown option -V; see --help");
    wrong("--help=yes", "option --help takes no argument; see --help");
    tap_ok(options_put_help(&out, rows, &e) == 0 && out.len == strlen(wanted) && memcmp(out.p, wanted, out.len) == 0,
           "the text of --help");
    out.len = 0;
    tap_ok(options_put_help(&out, wide, &e) == 0 && buf_put_byte(&out, '\0', &e) == 0 &&
               strstr((const char *)out.p,
                      "      --max-token-length=N  wide\n  -h, --help                show this help\n"),
           "the column of descriptions depends on the longest option");
    buf_free(&out);
}

/* ---- Several tables ---- */

struct command {
    const char *jobs, *format;
};

struct filter {
    const char *pattern, *format, *temp;
    uint64_t memory, vocab;
    bool partial, inline_text;
    const char *field;
    struct option_texts special;
};

static const struct option_row own[] = {
    {'j', "jobs", "JOBS", "how many", OPTION_TO(TEXT, struct command, jobs)},
    {'f', "format", "FORMAT", "of the command", OPTION_TO(TEXT, struct command, format)},
    {'r', "resume", NULL, "--resume: the command does that automatically; leave it out", .kind = OPTION_REFUSED},
    {0, "only", "FILE", NULL, .kind = OPTION_REFUSED},
    {0},
};

static const struct option_row one[] = {
    {'p', "pattern", "NAME", "a pattern", OPTION_TO(TEXT, struct filter, pattern)},
    {'s', "special-token", "TOKEN", "a token", OPTION_TO(TEXTS, struct filter, special)},
    {0, "inline", NULL, "inline", OPTION_TO(FLAG, struct filter, inline_text)},
    {0, "jsonl", "FIELD", "a field", OPTION_TO(TEXT, struct filter, field), .if_none = "text"},
    {0, "only", "FILE", "some", OPTION_TO(TEXT, struct filter, temp)},
    {'f', "format", "FORMAT", "of a filter", OPTION_TO(TEXT, struct filter, format)},
    {0, "resume", NULL, "resume", OPTION_TO(FLAG, struct filter, partial)},
    {'S', "memory", "SIZE", "memory", OPTION_TO(MEMORY, struct filter, memory)},
    {0},
};

static const struct option_row two[] = {
    {'S', "memory", "SIZE", "memory", OPTION_TO(SIZE, struct filter, memory)},
    {'p', "partial", NULL, "partial", OPTION_TO(FLAG, struct filter, partial)},
    {'v', "vocab-size", "N", "size", OPTION_TO(COUNT, struct filter, vocab)},
    {'j', "join", NULL, "another j", OPTION_TO(FLAG, struct filter, inline_text)},
    {0, "restart", NULL, "has a common prefix with a refused option", OPTION_TO(FLAG, struct filter, inline_text)},
    {0},
};

static struct command command;
static struct filter filters[2];
static struct option_words words[2];

/* Parses with the three tables. The command's own table is last, which must not matter. */
static enum options_next parse_all(const char *line)
{
    const struct option_set sets[] = {{.rows = one, .to = &filters[0], .words = &words[0]},
                                      {.rows = two, .to = &filters[1], .words = &words[1]},
                                      {.rows = own, .to = &command, .only = true}};
    options_free(one, &filters[0]);
    option_words_free(&words[0]);
    option_words_free(&words[1]);
    memset(filters, 0, sizeof filters);
    memset(&command, 0, sizeof command);
    split(line);
    return options_parse(sets, 3, argc, argv, &first, &e);
}

/* The words that the filters get, separated by blanks, and `|` between the filters. */
static void gives(const char *line, const char *wanted)
{
    char got[300] = "";
    enum options_next next = parse_all(line);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < words[i].n; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k ? " " : "", words[i].at[k]);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s", i ? "" : "|");
        next = words[i].n && words[i].at[words[i].n] ? OPTIONS_WRONG : next;
    }
    if (!tap_ok(next == OPTIONS_RUN && strcmp(got, wanted) == 0, "%s: gives %s", line, wanted))
        tap_note("got %d: %s; %s", (int)next, got, e.msg);
}

static void wrong_all(const char *line, const char *message)
{
    enum options_next next = parse_all(line);
    if (!tap_ok(next == OPTIONS_WRONG && e.code == EX_USAGE && strcmp(e.msg, message) == 0, "%s: %s", line, message))
        tap_note("got %d, %d: %s", (int)next, e.code, e.msg);
}

static void test_sets(void)
{
    gives("", "|");
    gives("-v 300 a --special=<a> -s b --inline", "--special-token=<a> --special-token=b --inline|--vocab-size=300");
    tap_ok(filters[1].vocab == 300 && filters[0].special.n == 2 && filters[0].inline_text && !filters[1].inline_text &&
               argc - first == 1,
           "  each option is stored where it belongs");
    gives("-S 1K", "--memory=1K|--memory=1K");
    tap_ok(filters[0].memory == 1024 && filters[1].memory == 1024, "  an option of two filters goes to both");
    gives("--jsonl /dev/null --jsonl=a.b", "--jsonl --jsonl=a.b|");
    gives("-s _ --jsonl=", "--special-token= --jsonl=|");
    gives("-p x", "--pattern=x|");
    tap_ok(!filters[1].partial, "  a letter in two tables has the meaning of the first");
    gives("-f x", "|");
    tap_ok(is(command.format, "x") && !filters[0].format, "  an option of the command is not passed to filters");
    gives("-j 2 --join", "|--join");
    tap_ok(is(command.jobs, "2") && filters[1].inline_text, "  nor are its letters, wherever its table is");
    gives("--vocab 300 --pat=x", "--pattern=x|--vocab-size=300");
    wrong_all("--p", "option --p is ambiguous: --pattern, --partial; see --help");
    wrong_all("--j", "option --j is ambiguous: --jsonl, --join, --jobs; see --help");
    wrong_all("--resume", "--resume: the command does that automatically; leave it out");
    wrong_all("--resume=x", "--resume: the command does that automatically; leave it out");
    gives("--res", "|--restart");
    wrong_all("--resu", "--resume: the command does that automatically; leave it out");
    wrong_all("-r", "--resume: the command does that automatically; leave it out");
    wrong_all("--only=x", "unknown option --only=x; see --help");
    wrong_all("--only x", "unknown option --only; see --help");
    wrong_all("--onyl x", "unknown option --onyl; see --help");
    wrong_all("--vocb-size=1", "unknown option --vocb-size=1; did you mean --vocab-size? see --help");
    wrong_all("-S 10%", "-S 10%: not a number; digits and at most one of KMGT are allowed");
    wrong_all("-S --jobs", "option -S needs an argument: \"--jobs\" is an option; see --help");
    tap_ok(parse_all("-f x --help") == OPTIONS_HELP, "--help of several tables");
}

static void test_names(void)
{
    static const struct option_row many[] = {
        {0, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL, "", .kind = OPTION_FLAG},
        {'b', "bbbbb", NULL, "", .kind = OPTION_FLAG},
        {'c', "ccc", "C", "", .kind = OPTION_TEXT},
        {0}};
    static const char wanted[] =
        "  one: -p --pattern= -s --special-token= --inline --jsonl[=] -S --memory=\n"
        "  many: --aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa -b --bbbbb\n"
        "             -c --ccc=\n"
        "  two: -p --partial -v --vocab-size= -j --join --restart\n";
    static const struct option_row *const none[] = {NULL}, *const by_command[] = {own, NULL},
                                          *const before[] = {own, one, NULL};
    struct buf out = {0};
    tap_ok(options_put_names(&out, "one", one, by_command, &e) == 0 &&
               options_put_names(&out, "many", many, none, &e) == 0 &&
               options_put_names(&out, "two", two, before, &e) == 0 && out.len == strlen(wanted) &&
               memcmp(out.p, wanted, out.len) == 0,
           "the names of options, without those in the command's or an earlier program's table");
    buf_free(&out);
}

static void test_nearest(void)
{
    static const char *const names[] = {"train", "encode", "shard", "vocab-size", "json", "u16", "tune"};
    static const struct {
        const char *word, *wanted;
    } cases[] = {{"trian", "train"},
                 {"trai", "train"},
                 {"encdoe", "encode"},
                 {"ecnod", "encode"},
                 {"shards", "shard"},
                 {"vocb", "vocab-size"},
                 {"vocab", "vocab-size"},
                 {"vocb-size", "vocab-size"},
                 {"JSON", "json"},
                 {"njson", "json"},
                 {"tune", "tune"},
                 {"tain", "train"},
                 {"xyz", NULL},
                 {"u8", NULL},
                 {"", NULL},
                 {"trxxn", NULL},
                 {"t", NULL},
                 {"frobnicate", NULL},
                 {"enc", NULL},
                 {"sizes", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = nearest(cases[i].word, names, sizeof names / sizeof *names);
        tap_ok(cases[i].wanted ? is(got, cases[i].wanted) : !got, "%s is near %s", cases[i].word,
               cases[i].wanted ? cases[i].wanted : "nothing");
    }
    char long_word[1000];
    memset(long_word, 'x', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = 0;
    tap_ok(!nearest(long_word, names, 2), "a very long word is near nothing");
}

int main(void)
{
    test_kinds();
    test_data();
    test_forms();
    test_placed();
    test_wrong();
    test_help();
    test_sets();
    test_names();
    test_nearest();
    options_free(rows, &self);
    options_free(one, &filters[0]);
    option_words_free(&words[0]);
    option_words_free(&words[1]);
    return tap_done();
}
