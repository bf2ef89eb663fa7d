/* batch_test.c - how the ids of a batch are written: to a pipe with one write per record, to a file with many records
 * per write; the bytes are the same. */
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "random.h"
#include "tap.h"
#include "wire/batch.h"
#include "wire/record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { IDS = 50000, DOCUMENTS = 300 };

static unsigned char ids[IDS * 4];
static struct document_mark mark[DOCUMENTS];

static void make_ids(unsigned width)
{
    for (size_t i = 0; i < IDS; i++)
        store_le(ids + i * width, width, rnd(300)); /* with many newlines */
    for (size_t i = 0; i < DOCUMENTS; i++)
        mark[i] = (struct document_mark){.n_ids = (i + 1) * IDS / DOCUMENTS, .len = rnd(1000)};
}

/* Puts the same records on every call. */
static int put_batch(int fd, unsigned width, struct err *e)
{
    static const unsigned char run[ID_LEN] = "the only run...", id[ID_LEN] = "the only batch.";
    const struct piece_tail tail = {.text = 990};
    const struct buf none = {0};
    struct batch b = {.fd = fd};
    struct batch_piece piece = {.model = 77, .source = 1, .begin = 10, .end = 1000, .width = width};
    batch_begin(&b, RECORD_TOKENS, fd, "a batch", run);
    memcpy(b.id, id, ID_LEN);
    int rc = batch_ids(&b, &piece, ids, IDS, mark, DOCUMENTS, &tail, e) ||
             batch_end(&b, RECORD_COMMIT, str_of("rules"), &none, 0, e);
    batch_free(&b);
    return rc || piece.first != IDS ? -1 : 0;
}

/* Reads a whole file, or all writes to a pipe that does not join them. *whole: each write was one record. */
static size_t get_all(int fd, unsigned char *to, size_t room, bool *whole)
{
    size_t len = 0;
    ssize_t got;
    *whole = true;
    while ((got = read(fd, to + len, room - len)) > 0) {
        *whole = *whole && got <= RECORD_ATOMIC && record_is_whole(to + len, (size_t)got);
        len += (size_t)got;
    }
    return len;
}

static void test_outputs(unsigned width)
{
    static unsigned char by_file[1 << 20], by_pipe[1 << 20];
    struct err e;
    int file = memfd_create("batch", 0), ends[2];
    bool whole;
    if (file < 0 || pipe2(ends, O_DIRECT) || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0) {
        tap_ok(1, "ids of %u bytes # skip packet pipes (O_DIRECT) are not available", width);
        return;
    }
    make_ids(width);
    bool good = !put_batch(file, width, &e) && !put_batch(ends[1], width, &e);
    close(ends[1]);
    size_t n_file = lseek(file, 0, SEEK_SET) ? 0 : get_all(file, by_file, sizeof by_file, &whole);
    size_t n_pipe = get_all(ends[0], by_pipe, sizeof by_pipe, &whole);
    tap_ok(good && n_file > IDS * width && n_file == n_pipe && !memcmp(by_file, by_pipe, n_file),
           "ids of %u bytes: a file and a pipe get the same records", width);
    tap_ok(whole, "  each record goes to the pipe in one atomic write");
    close(ends[0]);
    close(file);
}

int main(void)
{
    random_seed(20261124);
    test_outputs(2);
    test_outputs(4);
    return tap_done();
}
