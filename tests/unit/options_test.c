/* options_test.c - each kind of option in each form; what is refused, and how; old names, abbreviations, `--`; the
 * text of --help. */
#include "../unit/tap.h"
#include "cli/options.h"
#include "sys/memory.h"

#include <stdlib.h>
#include <string.h>

enum colour { NONE, RED, GREEN, BLUE };

static struct {
    bool flag, has_word, has_colour, has_size;
    const char *word, *field, *output;
    const char **list;
    size_t n_list;
    uint64_t size, count, memory;
    enum colour colour;
    unsigned order;
    int n_checks;
} self;

static const char *const colours[] = {"red", "green", "blue", NULL}, *const taken_from[] = {"one", "two", NULL};
static unsigned from;

static const char *const *get_words(void)
{
    return taken_from;
}

static int check_size(const char *word, struct err *e)
{
    self.n_checks++;
    return self.size == 13 ? err_set(e, EX_USAGE, "-S %s: is no good number", word) : 0;
}

static int check_field(const char *word, struct err *e)
{
    return word && !*word ? err_set(e, EX_USAGE, "--field=: has no name") : 0;
}

static const struct option_row rows[] = {
    {'f', "flag", NULL, "a flag", .kind = OPTION_FLAG, .to.flag = &self.flag},
    {'w', "word", "WORD", "a word", .kind = OPTION_TEXT, .to.text = &self.word, .given = &self.has_word},
    {0, "field", "NAME", "a field", .kind = OPTION_TEXT, .to.text = &self.field, .if_none = "text",
     .check = check_field},
    {'o', "output", "PATH", "where to", .kind = OPTION_OUTPUT, .to.text = &self.output},
    {'s', "special-token", "TOKEN", "a token;\nseveral lines", .kind = OPTION_TEXTS,
     .to.texts = {&self.list, &self.n_list}, .old_name = "special"},
    {'S', "size", "SIZE", "a size", .kind = OPTION_SIZE, .to.number = &self.size, .given = &self.has_size,
     .check = check_size},
    {'n', "count", "N", "a count", .kind = OPTION_COUNT, .to.number = &self.count},
    {'c', "colour", "WHICH", "a colour", .kind = OPTION_CHOICE, .to.choice = &self.colour, .words = colours,
     .first = RED, .given = &self.has_colour},
    {0, "memory", "SIZE", "memory", .kind = OPTION_MEMORY, .to.number = &self.memory},
    {0, "from", "WHERE", "words that come from elsewhere", .kind = OPTION_CHOICE, .to.choice = &from,
     .get_words = get_words},
    {0, "special-first", NULL, "first", .kind = OPTION_VALUE, .to.choice = &self.order, .first = 1},
    {0, "special-last", NULL, "last", .kind = OPTION_VALUE, .to.choice = &self.order, .first = 2},
    {0},
};

enum { WORDS = 12 };
static char *argv[WORDS + 2];
static int argc, first;
static struct err e;

/* Parses a command line, which is split at blanks; `_` stands for an empty word. */
static enum options_next parse(const char *line)
{
    static char words[200];
    free(self.list);
    memset(&self, 0, sizeof self);
    memset(&e, 0, sizeof e);
    from = 9;
    snprintf(words, sizeof words, "%s", line);
    argc = 0;
    argv[argc++] = "program";
    for (char *p = strtok(words, " "); p && argc <= WORDS; p = strtok(NULL, " "))
        argv[argc++] = strcmp(p, "_") == 0 ? "" : p;
    argv[argc] = NULL;
    return options_parse(rows, argc, argv, &first, &e);
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
    tap_ok(!self.flag && !self.word && !self.has_word && self.n_list == 0 && self.colour == NONE, "  all as it was");
    right("-f", 0);
    tap_ok(self.flag, "  a flag by its letter");
    right("--flag a b", 2);
    tap_ok(self.flag && is(argv[first], "a") && is(argv[first + 1], "b"), "  by its name, with FILEs");
    for (const char *const *line = (const char *const[]){"-w x", "-wx", "--word x", "--word=x", NULL}; *line; line++) {
        right(*line, 0);
        tap_ok(is(self.word, "x") && self.has_word, "  a text");
    }
    right("-w _ a", 1);
    tap_ok(is(self.word, "") && self.has_word, "  may be empty");
    right("-w x -w y", 0);
    tap_ok(is(self.word, "y"), "  the last one counts");
    right("-w -f", 0);
    tap_ok(is(self.word, "-f") && !self.flag, "  and may look like an option");
    right("--field x", 1);
    tap_ok(is(self.field, "text") && is(argv[first], "x"), "  an argument that may be left out is only after =");
    right("--field=a.b", 0);
    tap_ok(is(self.field, "a.b"), "  where it is");
    right("-o -", 0);
    tap_ok(self.output == NULL, "  - is standard output");
    right("-o - -o out -f", 0);
    tap_ok(is(self.output, "out"), "  a file is not");
    right("-s a -sb --special-token=c=7 --special-token d -s a", 0);
    tap_ok(self.n_list == 5 && is(self.list[0], "a") && is(self.list[1], "b") && is(self.list[2], "c=7") &&
               is(self.list[3], "d") && is(self.list[4], "a"),
           "  a list has all, in order");
    right("-S 4k --count=4k", 0);
    tap_ok(self.size == 4096 && self.count == 4000 && self.has_size, "  sizes by 1024, counts by 1000");
    right("--memory=4k", 0);
    tap_ok(self.memory == 4096, "  memory is a size");
    right("--memory=25%", 0);
    tap_ok(self.memory == memory_limit() / 10000 * 2500, "  or a part of what there is");
    right("--memory 0.07%", 0);
    tap_ok(self.memory == memory_limit() / 10000 * 7, "  down to hundredths of a percent");
    right("--memory=100%", 0);
    tap_ok(self.memory == memory_limit() / 10000 * 10000, "  up to all");
    right("-c red", 0);
    tap_ok(self.colour == RED && self.has_colour, "  the first word of a choice");
    right("--colour=blue", 0);
    tap_ok(self.colour == BLUE, "  and the last");
    right("--from two", 0);
    tap_ok(from == 1, "  words that a function gives");
    right("--special-last", 0);
    tap_ok(self.order == 2, "  an option that stands for a value");
    right("--special-last --special-first", 0);
    tap_ok(self.order == 1, "  of which the last one counts");
}

static void test_forms(void)
{
    right("-fwx a", 1);
    tap_ok(self.flag && is(self.word, "x"), "  letters together");
    right("a -f b -w x c", 3);
    tap_ok(self.flag && is(self.word, "x") && is(argv[first], "a") && is(argv[first + 2], "c"),
           "  options after FILEs");
    right("-f -- -w x", 2);
    tap_ok(self.flag && !self.word && is(argv[first], "-w"), "  none after --");
    right("- -f", 1);
    tap_ok(is(argv[first], "-"), "  - is a FILE");
    right("--wo=x --col green", 0);
    tap_ok(is(self.word, "x") && self.colour == GREEN, "  names cut short");
    right("--special=a --special b", 0);
    tap_ok(self.n_list == 2 && is(self.list[0], "a") && is(self.list[1], "b"),
           "  an old name that others begin with is not ambiguous");
    right("--special-t=a", 0);
    tap_ok(self.n_list == 1, "  nor is its new name cut short");
}

static void test_wrong(void)
{
    wrong("-Z", "unknown option -Z; see --help");
    wrong("-fZ", "unknown option -Z; see --help");
    wrong("--nonsense", "unknown option --nonsense, or one that takes no argument; see --help");
    wrong("--flag=x", "unknown option --flag=x, or one that takes no argument; see --help");
    wrong("--f", "unknown option --f, or one that takes no argument; see --help");
    wrong("--special-", "unknown option --special-, or one that takes no argument; see --help");
    wrong("-w", "option -w needs an argument; see --help");
    wrong("a --word", "option --word needs an argument; see --help");
    wrong("-c", "option -c needs an argument, as --colour=red; see --help");
    wrong("a --from", "option --from needs an argument, as --from=one; see --help");
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
    wrong("-S 13", "-S 13: is no good number");
    tap_ok(self.n_checks == 1, "  looked at once");
    wrong("--field=", "--field=: has no name");
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
                                 "      --memory=SIZE      memory\n"
                                 "      --from=WHERE       words that come from elsewhere\n"
                                 "      --special-first    first\n"
                                 "      --special-last     last\n"
                                 "  -h, --help             this text\n"
                                 "      --version          version\n";
    static const struct option_row wide[] = {
        {0, "max-token-length", "N", "wide", .kind = OPTION_COUNT, .to.number = &self.count}, {0}};
    struct buf out = {0};
    tap_ok(parse("-f --help -Z") == OPTIONS_HELP && parse("-h") == OPTIONS_HELP && parse("--he") == OPTIONS_HELP,
           "--help, whatever comes after it");
    tap_ok(parse("--version -Z") == OPTIONS_VERSION, "--version");
    wrong("-V", "unknown option -V; see --help");
    wrong("--help=yes", "unknown option --help=yes, or one that takes no argument; see --help");
    tap_ok(options_put_help(&out, rows, &e) == 0 && out.len == strlen(wanted) && memcmp(out.p, wanted, out.len) == 0,
           "the text of --help: old names are not in it");
    out.len = 0;
    tap_ok(options_put_help(&out, wide, &e) == 0 && buf_put_byte(&out, '\0', &e) == 0 &&
               strstr((const char *)out.p, "      --max-token-length=N  wide\n  -h, --help                this text\n"),
           "its column is where the longest option ends");
    buf_free(&out);
}

int main(void)
{
    test_kinds();
    test_forms();
    test_wrong();
    test_help();
    free(self.list);
    return tap_done();
}
