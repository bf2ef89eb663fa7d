/* replay.c - the main program of fuzz targets without libFuzzer.
 *
 *     fuzz_NAME [-s SECONDS] FILE|DIRECTORY...     SEED=N
 *
 * Runs the target on each file, and then, for SECONDS, on random changes of them. Prints the seed. An input on which
 * the target dies, or takes longer than 20 s, is kept in fuzz_NAME-input.
 */
#include "../unit/random.h"
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { BYTES_MAX = 1 << 16, FILES_MAX = 256, TOO_LONG = 20 };

static struct {
    uint8_t *p;
    size_t n;
} files[FILES_MAX];
static size_t n_files;

static uint8_t input[BYTES_MAX];
static size_t input_len;
static char left[128];

/* Saves the input, then dies by the same signal. */
static void die(int signal_number)
{
    int fd = open(left, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0 && write(fd, input, input_len) == (ssize_t)input_len) {
        static const char said[] = "the input is in ";
        (void)!write(2, said, sizeof said - 1);
        (void)!write(2, left, strlen(left));
        (void)!write(2, "\n", 1);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void die_of_sanitizer(void)
{
    die(SIGABRT);
}

/* Exists if the program is built with a sanitizer. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void prepare(const char *program)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    const char *name = strrchr(program, '/');
    snprintf(left, sizeof left, "%.80s-input", name ? name + 1 : program);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(die_of_sanitizer);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (!__sanitizer_set_death_callback || signals[i] == SIGABRT || signals[i] == SIGALRM)
            signal(signals[i], die);
    }
}

static void add_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, input, BYTES_MAX);
    if (n < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(66);
    }
    close(fd);
    if (n_files == FILES_MAX)
        return;
    uint8_t *p = malloc((size_t)n + 1);
    if (!p)
        abort();
    memcpy(p, input, (size_t)n);
    files[n_files].p = p;
    files[n_files++].n = (size_t)n;
}

static void add(const char *path)
{
    struct stat st;
    if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
        add_file(path);
        return;
    }
    struct dirent **entries;
    char name[1024];
    int n = scandir(path, &entries, NULL, alphasort); /* sorted: the same seed gives the same inputs */
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            add_file(name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* Replaces `old` bytes of the input by n bytes, if they fit. */
static void put_in_place(size_t at, size_t old, const uint8_t *p, size_t n)
{
    uint8_t copy[1024];
    n = n < sizeof copy ? n : sizeof copy;
    old = old < input_len - at ? old : input_len - at;
    if (input_len - old + n > BYTES_MAX)
        return;
    memcpy(copy, p, n); /* p may point into the input */
    memmove(input + at + n, input + at + old, input_len - at - old);
    memcpy(input + at, copy, n);
    input_len += n - old;
}

static void change(void)
{
    static const uint8_t interesting[] = "\0\1\2\t\n\x0b\r 09\"\\,:[]{}~\x7f\x80\xbf\xc0\xe2\xed\xf0\xf4\xfe\xff";
    size_t at = rnd(input_len + 1), left_over = input_len - at, n = 1 + rnd(rnd(8) ? 8 : 500);
    uint8_t byte = interesting[rnd(sizeof interesting - 1)];
    switch (rnd(8)) {
    case 0: /* flip a bit */
        if (left_over)
            input[at] ^= (uint8_t)(1u << rnd(8));
        break;
    case 1: /* set a byte */
        put_in_place(at, 1, &byte, 1);
        break;
    case 2:
        put_in_place(at, 0, &byte, 1);
        break;
    case 3: /* increment or decrement a byte */
        if (left_over)
            input[at] = (uint8_t)(input[at] + (rnd(2) ? 1 : -1));
        break;
    case 4:
        put_in_place(at, n, input, 0);
        break;
    case 5: /* repeat bytes */
        put_in_place(at, 0, input + at, n < left_over ? n : left_over);
        break;
    case 6: { /* insert part of another file */
        size_t k = rnd(n_files);
        if (files[k].n == 0)
            break;
        size_t from = rnd(files[k].n), max = files[k].n - from;
        put_in_place(at, rnd(2) ? n : 0, files[k].p + from, n < max ? n : max);
        break;
    }
    case 7:
        if (rnd(4) == 0)
            input_len = at;
        break;
    }
}

static void take(size_t k)
{
    input_len = files[k].n < BYTES_MAX ? files[k].n : BYTES_MAX;
    memcpy(input, files[k].p, input_len);
}

static void run(void)
{
    alarm(TOO_LONG);
    LLVMFuzzerTestOneInput(input, input_len);
    alarm(0);
}

int main(int argc, char **argv)
{
    double seconds = 0;
    struct timespec begin, now;
    unsigned long n = 0;
    prepare(argv[0]);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
        else
            add(argv[i]);
    }
    random_seed((uint64_t)time(NULL));
    fflush(stdout);
    for (size_t k = 0; k < n_files; k++, n++) {
        take(k);
        run();
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (n_files && seconds > 0) {
        take(rnd(n_files));
        for (uint64_t changes = 1 + rnd(rnd(4) ? 3 : 20); changes > 0; changes--)
            change();
        run();
        n++;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 > seconds)
            break;
    }
    tap_ok(n > 0, "%.*s: %lu inputs from %zu files", (int)strcspn(left, "-"), left, n, n_files);
    for (size_t k = 0; k < n_files; k++)
        free(files[k].p);
    return tap_done();
}
