/* packet_test.c - messages through a socket that several processes read: each message, of any length, goes as a whole
 * to one of them, and nothing is read in advance. */
#include "base/io/fd.h"
#include "base/io/input.h"
#include "base/io/packet.h"
#include "tap.h"
#include "wire/record.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char bytes[5 << 20], back[sizeof bytes];

/* A pair of sockets, [1] to write and [0] to read. */
static void make_pair(int fd[2], int type)
{
    if (socketpair(AF_UNIX, type, 0, fd))
        abort();
}

/* Makes a descriptor standard input, and closes it. */
static struct input *open_over(int fd)
{
    struct err e = {0};
    if (dup2(fd, 0) < 0)
        abort();
    close(fd);
    return input_open("-", &e);
}

static bool is_packets(int domain, int type)
{
    int fd[2];
    if (socketpair(domain, type, 0, fd))
        abort();
    bool is = packet_socket(fd[0]) && packet_socket(fd[1]);
    close(fd[0]);
    close(fd[1]);
    return is;
}

static void test_kinds(void)
{
    int fd[2];
    if (pipe(fd))
        abort();
    tap_ok(is_packets(AF_UNIX, SOCK_SEQPACKET), "a SOCK_SEQPACKET socket is a packet socket");
    tap_ok(!is_packets(AF_UNIX, SOCK_STREAM) && !is_packets(AF_UNIX, SOCK_DGRAM) && !packet_socket(fd[0]) &&
               !packet_socket(-1),
           "other sockets, a pipe and a closed descriptor are not");
    close(fd[0]);
    close(fd[1]);
}

/* Writes messages of these lengths in another process, and reads them in parts of at most `part` bytes. Returns whether
 * the bytes are unchanged, and each message ends where it should. */
static bool comes_whole(const size_t *len, size_t n, size_t part, int type)
{
    int fd[2], status;
    struct err e = {0};
    make_pair(fd, type);
    packet_prepare(fd[1]);
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        for (size_t i = 0, at = 0; i < n; at += len[i], i++) {
            if (fd_write(fd[1], bytes + at, len[i], "socket", &e))
                _exit(1);
        }
        _exit(0);
    }
    close(fd[1]);
    struct input *in = open_over(fd[0]);
    size_t at = 0;
    ptrdiff_t got;
    bool good = in != NULL && input_is_shared(in) == (type == SOCK_SEQPACKET);
    for (size_t i = 0, end = 0; in && i < n; i++) {
        for (end += len[i]; at < end && (got = input_read(in, back + at, part, &e)) > 0; at += (size_t)got)
            ;
        good = good && at <= sizeof back && (type != SOCK_SEQPACKET || (at == end && input_message_ended(in)));
    }
    good = good && input_read(in, back + at, part, &e) == 0 && memcmp(bytes, back, at) == 0;
    input_close(in);
    return waitpid(pid, &status, 0) == pid && status == 0 && good;
}

static void test_lengths(void)
{
    static const size_t small[] = {1, 27, 2, 4096}, max[] = {PACKET_MAX, PACKET_MAX - 1, PACKET_MAX},
                        large[] = {PACKET_MAX + 1, 3 << 20, 5, 300000};
    tap_ok(comes_whole(small, 4, 27, SOCK_SEQPACKET), "short messages, read 27 bytes at a time");
    tap_ok(comes_whole(small, 4, 1 << 20, SOCK_SEQPACKET), "the same with a large buffer");
    tap_ok(comes_whole(max, 3, PACKET_MAX, SOCK_SEQPACKET), "the longest messages that are sent without a file");
    tap_ok(comes_whole(max, 3, 1000, SOCK_SEQPACKET), "  with a small buffer");
    tap_ok(comes_whole(large, 4, PACKET_MAX, SOCK_SEQPACKET), "longer messages, sent as files");
    tap_ok(comes_whole(large, 4, 1000, SOCK_SEQPACKET), "  with a small buffer");
    tap_ok(comes_whole(large, 4, 1000, SOCK_STREAM), "a stream socket is read as usual");
}

/* Two readers of one socket. */
static void test_share(void)
{
    int fd[2];
    struct err e = {0};
    make_pair(fd, SOCK_SEQPACKET);
    for (int i = 0; i < 3; i++) {
        if (send(fd[1], bytes + 10 * i, 10, 0) != 10)
            abort();
    }
    int other = dup(fd[0]);
    struct input *a = open_over(fd[0]), *b = open_over(other);
    bool good = input_read(b, back, sizeof back, &e) == 10 && memcmp(back, bytes + 10, 10) == 0 &&
                input_read(a, back, 4, &e) == 4 && !input_message_ended(a) && input_read(a, back, 30, &e) == 6 &&
                input_message_ended(a) && memcmp(back, bytes + 4, 6) == 0 && input_read(b, back, sizeof back, &e) == 10;
    tap_ok(good, "each reader takes one message, and the next one only after it is used");
    close(fd[1]);
    tap_ok(input_read(a, back, 30, &e) == 0 && input_read(b, back, 30, &e) == 0, "all readers get the end of input");
    input_close(a);
    input_close(b);
}

/* How many long messages a process that is blocked in writing has in the queue. */
static int queued(void)
{
    int fd[2], file, n = 0, large = 16 << 20;
    struct err e = {0};
    make_pair(fd, SOCK_SEQPACKET);
    setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
    packet_prepare(fd[1]);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 20; i++)
            fd_write(fd[1], bytes, PACKET_MAX + 1, "socket", &e);
        _exit(0);
    }
    usleep(200000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(fd[1]);
    while (packet_receive(fd[0], back, PACKET_MAX, true, &file, "socket", &e) > 0 && file >= 0) {
        close(file);
        n++;
    }
    close(fd[0]);
    return n;
}

/* How a process ends that writes n bytes to a socket whose other end is closed. unread: an unread message is in the
 * socket. */
static int end_of_writer(size_t n, bool unread, bool ignored)
{
    int fd[2], status = 0;
    struct err e = {0};
    pid_t pid = fork();
    if (pid == 0) { /* only this process has both ends */
        make_pair(fd, SOCK_SEQPACKET);
        signal(SIGPIPE, ignored ? SIG_IGN : SIG_DFL);
        if (unread && send(fd[1], bytes, 10, 0) != 10)
            abort();
        close(fd[0]);
        _exit(fd_write(fd[1], bytes, n, "the output", &e) ? e.code : 0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_ends(void)
{
    int n = queued();
    tap_ok(n >= 1 && n <= 2, "few files are queued: %d", n);
    tap_ok(end_of_writer(10, false, false) == -SIGPIPE, "no reader: SIGPIPE ends the writer");
    tap_ok(end_of_writer(10, true, false) == -SIGPIPE, "  with an unread message");
    tap_ok(end_of_writer(PACKET_MAX + 1, false, false) == -SIGPIPE, "  a file");
    tap_ok(end_of_writer(10, true, true) == EX_IOERR, "an error if SIGPIPE is ignored");
    tap_ok(end_of_writer(PACKET_MAX + 1, false, true) == EX_IOERR, "  a file");
}

/* Sends a descriptor with a short message. */
static void send_file(int fd, int file)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } c;
    memset(&c, 0, sizeof c);
    struct iovec part = {bytes, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = c.bytes, .msg_controllen = sizeof c.bytes};
    c.align = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof file)};
    memcpy(CMSG_DATA(&c.align), &file, sizeof file);
    if (sendmsg(fd, &m, 0) != 1)
        abort();
}

static void test_damage(void)
{
    int fd[2], file, large = 1 << 20;
    struct err e = {0};
    make_pair(fd, SOCK_SEQPACKET);
    setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
    if (send(fd[1], bytes, 300 << 10, 0) != 300 << 10) {
        tap_ok(1, "a message of 300 KiB # SKIP this system cannot send it");
    } else {
        tap_ok(packet_receive(fd[0], back, PACKET_MAX, true, &file, "socket", &e) == -1 && e.code == EX_DATAERR &&
                   strstr(e.msg, "socket: a message of more than 204800 bytes was truncated"),
               "a message that is too long is an error: %s", e.msg);
    }
    int empty = memfd_create("empty", 0);
    send_file(fd[1], empty);
    send_file(fd[1], fd[1]);
    send_file(fd[1], empty);
    if (send(fd[1], bytes, 10, 0) != 10)
        abort();
    if (dup2(fd[0], 0) < 0)
        abort();
    for (int i = 0; i < 2; i++) {
        e = (struct err){0};
        tap_ok(!input_open("-", &e) && e.code == EX_DATAERR, "%s: %s", i ? "not a file" : "an empty file", e.msg);
    }
    struct rlimit old, low;
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = (rlim_t)dup(0) + 1; /* all free descriptors are above the limit */
    setrlimit(RLIMIT_NOFILE, &low);
    ssize_t got = packet_receive(0, back, PACKET_MAX, true, &file, "socket", &e);
    setrlimit(RLIMIT_NOFILE, &old);
    tap_ok(got == -1 && e.code == EX_OSERR && file == -1, "out of descriptors: %s", e.msg);
    tap_ok(packet_receive(0, back, PACKET_MAX, true, &file, "socket", &e) == 10, "the next message is received");
}

/* A record that does not end in its message is cut off. */
static void test_records(void)
{
    int fd[2], file;
    struct err e = {0};
    struct buf out = {0};
    struct record rec;
    struct record_reader r;
    make_pair(fd, SOCK_SEQPACKET);
    if (record_put(&out, RECORD_CHUNK, bytes, 1000, &e) || send(fd[1], out.p, out.len, 0) != (ssize_t)out.len ||
        send(fd[1], out.p, 500, 0) != 500 || send(fd[1], out.p + 500, out.len - 500, 0) <= 0 || dup2(fd[0], 0) < 0 ||
        record_reader_open(&r, "-", &e))
        abort();
    tap_ok(record_next(&r, &rec, &e) == RECORD_ITEM && rec.len == 1000, "a record");
    tap_ok(record_next(&r, &rec, &e) == RECORD_ERROR && strstr(e.msg, "cut off inside a record"),
           "a record that is cut off: %s", e.msg);
    tap_ok(packet_receive(fd[0], back, PACKET_MAX, true, &file, "socket", &e) == (ssize_t)out.len - 500,
           "the next message was not taken");
    record_reader_close(&r);
    buf_free(&out);
}

int main(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i >> 3);
    alarm(60);
    test_kinds();
    test_lengths();
    test_share();
    test_ends();
    test_damage();
    test_records();
    return tap_done();
}
