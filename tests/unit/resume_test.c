/* resume_test.c - a working directory: the options and inputs it was begun with, its lock, and files of other types. */
#include "../unit/tap.h"
#include "driver/resume.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err e;

static void is(const char *got, const char *want, const char *name)
{
    if (!tap_ok(strcmp(got, want) == 0, "%s", name))
        tap_note("got %s, wanted %s", got, want);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

/* The buffer as a string, *borrowed* until the next call. */
static const char *text_of(struct buf *b)
{
    return buf_put_byte(b, '\0', &e) ? "" : (const char *)b->p;
}

static void words(void)
{
    const char *const some[] = {"-m", "a b", "it's", "", "a\nb\\'\x01", "\xC3\xA9"};
    struct buf b = {0};
    resume_put_words(&b, some, sizeof some / sizeof *some, &e);
    is(text_of(&b), "'-m' 'a b' 'it'\\''s' '' $'a\\nb\\\\\\'\\001' '\xC3\xA9'", "words quoted for a shell");
    buf_free(&b);
}

static void inputs(void)
{
    char *files[] = {"a.txt", "-", "pipe", "b c"}, *none[] = {"none"}, *dir[] = {"."}, *far[] = {"s3::https://x/y"};
    const struct timespec times[] = {{1, 2}, {1700000000, 5}};
    struct buf b = {0};
    write_file("a.txt", "text");
    write_file("b c", "");
    utimensat(AT_FDCWD, "a.txt", times, 0);
    utimensat(AT_FDCWD, "b c", times, 0);
    mkfifo("pipe", 0666);
    int rc = resume_put_inputs(&b, files, 4, true, &e);
    tap_ok(rc == 0 && resume_reads_once(buf_str(&b)), "some inputs can be read only once");
    is(text_of(&b), "- - -\n- - pipe\n4 1700000000.000000005 a.txt\n0 1700000000.000000005 b c",
       "sizes and times of inputs, which may change");
    b.len = 0;
    rc = resume_put_inputs(&b, files, 1, true, &e);
    tap_ok(rc == 0 && !resume_reads_once(buf_str(&b)), "a file can be read again");
    tap_ok(resume_put_inputs(&b, none, 1, true, &e) && e.code == EX_NOINPUT, "a missing file");
    is(e.msg, "none: cannot open: No such file or directory", "its message");
    tap_ok(resume_put_inputs(&b, dir, 1, true, &e) && e.code == EX_NOINPUT, "a directory");
    tap_ok(resume_put_inputs(&b, far, 1, true, &e) && e.code == EX_USAGE, "a remote file");
    tap_ok(resume_put_inputs(&b, far, 1, false, &e) && e.code == EX_NOINPUT, "a local file with such a name");
    buf_free(&b);
}

static void compare_is(const char *asked, const char *input, int code, const char *want, const char *name)
{
    e = (struct err){0};
    int rc = resume_compare("D", "work", str_of(asked), str_of(input), &e);
    tap_ok(rc == (code ? -1 : 0) && e.code == code, "%s: %d", name, code);
    is(e.msg, want, "  its message");
}

static void notes(void)
{
    mkdir("work", 0777);
    tap_ok(resume_note("work", str_of("'-m' 'x'"), str_of("1 2.0 a\n3 4.0 b c\n5 6.0 d"), &e) == 0, "noted");
    compare_is("'-m' 'x'", "1 2.0 a\n3 4.0 b c\n5 6.0 d", 0, "", "the same");
    compare_is(
        "'-m' 'y'", "1 2.0 a", EX_USAGE,
        "D was begun with: '-m' 'x'; give the same options and files, or another directory, or remove it to start "
        "over",
        "other words");
    compare_is("'-m' 'x'", "1 2.0 a\n3 4.1 b c\n5 6.1 d", EX_DATAERR,
               "b c: changed since D was begun; remove D and run the same command again", "the first changed input");
    compare_is("'-m' 'x'", "1 2.0 a\n3 4.0 b c\n5 7.0 d", EX_DATAERR,
               "d: changed since D was begun; remove D and run the same command again", "the last input");
    unlink("work/inputs");
    mkfifo("work/inputs", 0666);
    compare_is("'-m' 'x'", "1 2.0 a", EX_CANTCREAT,
               "work/inputs: is not a regular file; remove it, or give another directory", "a pipe");
    unlink("work/inputs");
    tap_ok(symlink("../a.txt", "work/note.new") == 0 && resume_note("work", str_of("x"), str_of("y"), &e) &&
               access("a.txt", F_OK) == 0,
           "a symbolic link is not followed");
    mkdir("none", 0777);
    mkdir("none/asked", 0777);
    tap_ok(resume_note("none", str_of("x"), str_of("y"), &e) && access("none/inputs", F_OK) == 0,
           "the options are written last: after a death before that, the work does not look begun");
    unlink("none/inputs"), unlink("none/note.new"), rmdir("none/asked"), rmdir("none");
    tap_ok(resume_only_files("work", NULL, &e) && resume_only_files("work", "note.new", &e) == 0 &&
               resume_only_files("none", NULL, &e) == 0,
           "only files, except one name; or no directory");
    unlink("work/note.new"), unlink("work/asked"), rmdir("work");
}

static void directories(void)
{
    tap_ok(resume_make_directory("x/y/z", &e) == 0 && resume_make_directory("x/y/z/", &e) == 0 &&
               access("x/y/z", W_OK) == 0,
           "a directory with its parents, created twice");
    tap_ok(resume_make_directory("a.txt", &e) && e.code == EX_CANTCREAT, "a file in place of the directory");
    is(e.msg, "a.txt: cannot create: File exists", "its message");
    tap_ok(resume_make_directory("a.txt/y", &e) && e.code == EX_CANTCREAT, "a file in place of the parent");
    is(e.msg, "a.txt/y: cannot create: Not a directory", "its message");
    rmdir("x/y/z"), rmdir("x/y"), rmdir("x");
}

static void publishing(void)
{
    char got[20] = "";
    write_file("made", "new");
    tap_ok(resume_publish("made", "there", &e) == 0 && access("made", F_OK) && !access("there", F_OK), "published");
    write_file("made", "other");
    tap_ok(resume_publish("made", "there", &e) == 0 && access("made", F_OK), "an existing target is not an error");
    FILE *f = fopen("there", "r");
    tap_ok(f && fgets(got, sizeof got, f) && strcmp(got, "new") == 0, "  and stays");
    if (f)
        fclose(f);
    tap_ok(resume_publish("made", "there", &e) == 0, "published by another process, which has removed the source");
    tap_ok(resume_publish("made", "nowhere", &e) && e.code == EX_IOERR, "a missing source is an error");
    tap_ok(resume_remove("there", &e) == 0 && resume_remove("there", &e) == 0,
           "a file is removed; removing it again is not an error");
}

/* A child holds the lock of a directory for a few milliseconds. said: whether a message reports that. */
static void lock_is(int ms, bool said, const char *name)
{
    struct job j = {.command = "bpe test"};
    int ready[2], heard[2], err = dup(2);
    char text[200] = "";
    if (pipe(ready) || pipe(heard))
        return;
    pid_t child = fork();
    if (child == 0) {
        int fd = open(".", O_RDONLY | O_DIRECTORY);
        _exit(flock(fd, LOCK_EX) || write(ready[1], "", 1) != 1 || usleep((unsigned)ms * 1000));
    }
    bool began = read(ready[0], text, 1) == 1;
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    dup2(heard[1], 2);
    int rc = resume_lock(&j, "D", fd, &e);
    dup2(err, 2);
    close(heard[1]);
    ssize_t n = read(heard[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    tap_ok(began && rc == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0, "%s: locked", name);
    is(text, said ? "bpe test: D: other processes are working there; waiting for them\n" : "", "  its message");
    close(fd), close(err), close(heard[0]), close(ready[0]), close(ready[1]);
    waitpid(child, NULL, 0);
}

static void tries(void)
{
    int a = open(".", O_RDONLY | O_DIRECTORY), b = open(".", O_RDONLY | O_DIRECTORY);
    tap_ok(resume_try_lock("D", a, 0, &e) == 0 && resume_try_lock("D", b, 50, &e) == 1,
           "a lock held by another process");
    close(a);
    tap_ok(resume_try_lock("D", b, 0, &e) == 0, "  and released");
    close(b);
    tap_ok(resume_try_lock("D", b, 0, &e) == -1 && e.code == EX_OSERR, "a descriptor that cannot be locked");
}

static void removing(void)
{
    mkdir("many", 0777), write_file("many/a", ""), write_file("many/b", "");
    tap_ok(resume_remove_directory("many", &e) == 0 && access("many", F_OK), "a directory is removed");
    tap_ok(resume_remove_directory("many", &e) == 0, "  a missing one is not an error");
    mkdir("many", 0777), mkdir("many/a", 0777);
    tap_ok(resume_remove_directory("many", &e) && e.code == EX_IOERR, "  one with subdirectories is an error");
    rmdir("many/a"), rmdir("many");
}

int main(void)
{
    char dir[] = "/tmp/resume_test-XXXXXX";
    if (!mkdtemp(dir) || chdir(dir))
        return 1;
    words();
    inputs();
    notes();
    directories();
    publishing();
    tries();
    removing();
    lock_is(0, false, "a lock that is released soon");
    lock_is(300, false, "a lock of processes that are ending");
    lock_is(1500, true, "a lock of a running command");
    unlink("a.txt"), unlink("b c"), unlink("pipe");
    if (chdir("/") || rmdir(dir))
        return 1;
    return tap_done();
}
