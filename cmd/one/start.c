/* start.c - executes `bpe` in its own directory, with its own name as argv[0], by which bpe chooses the program
 * (programs.c).
 *
 * It does without the C library, so it is about a thousand bytes and starts instantly.
 *
 * Exit status: 127 if bpe cannot be executed. */
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/fcntl.h>

enum { PATH_MOST = 4096 };

#if defined(__x86_64__)

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");

static long call(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

__asm__(".globl _start\n_start:\n\tmov x0, sp\n\tbl start\n");

static long call(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

#endif

static long text_len(const char *text)
{
    long n = 0;
    while (text[n])
        n++;
    return n;
}

/* The index after the last slash of text[0 .. n). */
static long name_at(const char *text, long n)
{
    while (n > 0 && text[n - 1] != '/')
        n--;
    return n;
}

static void say(const char *text)
{
    call(__NR_write, 2, (long)text, text_len(text), 0);
}

/* The file that was executed, as passed to execve(2). */
static const char *executed(char **environment)
{
    while (*environment)
        environment++;
    const long *pair = (const long *)(environment + 1);
    while (pair[0] != AT_NULL && pair[0] != AT_EXECFN)
        pair += 2;
    return pair[0] == AT_EXECFN ? (const char *)pair[1] : "";
}

/* stack: the number of arguments, the arguments, NULL, the environment, NULL, the auxiliary vector. */
__attribute__((noreturn, used)) void start(long *stack)
{
    static char path[PATH_MOST + sizeof "bpe"], name[PATH_MOST + 1];
    char **argv = (char **)(stack + 1), **environment = argv + stack[0] + 1;
    long n = call(__NR_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, PATH_MOST);
    if (n <= 0) { /* no /proc */
        const char *file = executed(environment);
        for (n = 0; n < PATH_MOST && file[n]; n++)
            path[n] = file[n];
    }
    long at = name_at(path, n);
    for (long i = at; i < n; i++)
        name[i - at] = path[i];
    for (long i = 0; i < (long)sizeof "bpe"; i++)
        path[at + i] = "bpe"[i];
    if (stack[0]) {
        argv[0] = name;
        call(__NR_execve, (long)path, (long)argv, (long)environment, 0);
    }
    say(name);
    say(": cannot run bpe in the same directory; reinstall bpetools\n");
    for (;;)
        call(__NR_exit_group, 127, 0, 0, 0);
}
