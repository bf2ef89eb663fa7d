/* programs.c - all programs in one executable, for wheels, which would otherwise contain the shared code ten times
 * (Makefile: ONE=1).
 *
 * The executable is named bpe, and runs the program that argv[0] names. start.c is installed next to it under the other
 * names. */
#include <string.h>
#include <sys/prctl.h>

/* PROGRAMS is set by the Makefile: PROGRAM(bpe) PROGRAM(bpe_chunk) ... */
#define PROGRAM(name) int name##_main(int argc, char **argv);
PROGRAMS
#undef PROGRAM

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
} programs[] = {
#define PROGRAM(name) {#name, name##_main},
    PROGRAMS};

/* Whether a word equals the name, which has _ where the word has -. */
static int is_name(const char *word, const char *name)
{
    while (*word && (*word == *name || (*word == '-' && *name == '_')))
        word++, name++;
    return !*word && !*name;
}

int main(int argc, char **argv)
{
    const char *slash = argc ? strrchr(argv[0], '/') : NULL, *word = slash ? slash + 1 : argc ? argv[0] : "";
    for (size_t i = 1; i < sizeof programs / sizeof *programs; i++) {
        if (is_name(word, programs[i].name)) {
            prctl(PR_SET_NAME, word); /* ps(1) would show the name of the file */
            return programs[i].main(argc, argv);
        }
    }
    return programs[0].main(argc, argv);
}
