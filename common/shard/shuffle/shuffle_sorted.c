/* shuffle_sorted.c - see shuffle_sorted.h. */
#include "shard/shuffle/shuffle_sorted.h"

#include "base/io/fd.h"
#include "base/sys/huge.h"
#include "shard/shuffle/shuffle_entry.h"

#include <string.h>
#include <unistd.h>

enum { WINDOW = 1 << 20 };

int shuffle_damaged(const char *name, uint64_t at, struct err *e)
{
    return err_at(e, EX_DATAERR, name, at, "this work file is damaged; start again in another directory");
}

void shuffle_part_close(struct shuffle_part *p)
{
    if (p->own)
        close(p->fd);
    *p = (struct shuffle_part){.fd = -1};
}

uint64_t shuffle_sorted_need(const struct shuffle_part *p, bool whole)
{
    return p->n * sizeof(struct shuffle_item) + (whole ? p->len : 0);
}

static int read_all(const struct shuffle_part *p, const char *name, void *to, size_t n, uint64_t at, struct err *e)
{
    ssize_t got = fd_pread(p->fd, to, n, at, name, e);
    return got < 0 ? -1 : (size_t)got < n ? shuffle_damaged(name, at + (uint64_t)got, e) : 0;
}

/* Reads the prefix of the entry at an offset, and checks that the entry fits in the file. */
static int read_prefix(const struct shuffle_sorted *s, unsigned char prefix[ENTRY_PREFIX], uint64_t at, struct err *e)
{
    uint64_t left = s->part.len - at;
    if (left < ENTRY_PREFIX)
        return shuffle_damaged(s->name, at, e);
    if (s->data)
        memcpy(prefix, s->data + at, ENTRY_PREFIX);
    else if (read_all(&s->part, s->name, prefix, ENTRY_PREFIX, at, e))
        return -1;
    return entry_len(prefix) > left ? shuffle_damaged(s->name, at, e) : 0;
}

static int find_items(struct shuffle_sorted *s, struct err *e)
{
    unsigned char prefix[ENTRY_PREFIX];
    uint64_t at = 0;
    for (uint64_t i = 0; i < s->part.n; i++) {
        if (read_prefix(s, prefix, at, e))
            return -1;
        if (s->data && !shuffle_entry_good(s->data + at))
            return shuffle_damaged(s->name, at, e);
        s->item[i] = (struct shuffle_item){entry_key(prefix), at};
        at += entry_len(prefix);
    }
    return at != s->part.len ? shuffle_damaged(s->name, at, e) : 0;
}

static int make_room(struct shuffle_sorted *s, uint64_t need, struct err *e)
{
    if (need <= s->size)
        return 0;
    huge_free(s->room, s->size);
    s->size = 0;
    s->room = need <= SIZE_MAX / 2 ? huge_zeroed((size_t)need) : NULL;
    if (!s->room)
        return err_mem(e, "documents to shuffle", need);
    s->size = (size_t)need;
    return 0;
}

int shuffle_sorted_load(struct shuffle_sorted *s, struct shuffle_part *p, const char *name, bool whole, struct err *e)
{
    s->part = *p;
    s->name = name;
    s->loaded = true;
    s->next = 0;
    if (make_room(s, shuffle_sorted_need(p, whole), e))
        return -1;
    s->item = s->room;
    s->data = whole ? (unsigned char *)(s->item + p->n) : NULL;
    if (whole && read_all(p, name, s->data, (size_t)p->len, 0, e))
        return -1;
    if (find_items(s, e))
        return -1;
    shuffle_sort(s->item, (size_t)p->n, p->bits);
    return 0;
}

uint64_t shuffle_sorted_entry_len(const struct shuffle_sorted *s, struct err *e)
{
    unsigned char prefix[ENTRY_PREFIX];
    return read_prefix(s, prefix, s->item[s->next].at, e) ? 0 : entry_len(prefix);
}

const unsigned char *shuffle_sorted_entry(const struct shuffle_sorted *s, struct buf *room, struct err *e)
{
    const struct shuffle_item *item = &s->item[s->next];
    if (s->data)
        return s->data + item->at;
    uint64_t len = shuffle_sorted_entry_len(s, e);
    unsigned char *p = room->p + room->len;
    if (len == 0 || read_all(&s->part, s->name, p, (size_t)len, item->at, e))
        return NULL;
    if (entry_len(p) != len || !shuffle_entry_good(p)) {
        shuffle_damaged(s->name, item->at, e);
        return NULL;
    }
    room->len += (size_t)len;
    return p;
}

void shuffle_sorted_unload(struct shuffle_sorted *s)
{
    if (s->loaded)
        shuffle_part_close(&s->part);
    s->loaded = false;
}

void shuffle_sorted_free(struct shuffle_sorted *s)
{
    shuffle_sorted_unload(s);
    huge_free(s->room, s->size);
    *s = (struct shuffle_sorted){0};
}

/* Makes the window hold at least `need` bytes from s->at on. */
static int scan_fill(struct shuffle_scan *s, uint64_t need, struct err *e)
{
    size_t passed = (size_t)(s->at - s->window_at), have = s->window.len - passed;
    if (have >= need)
        return 0;
    uint64_t left = s->part->len - s->at;
    size_t want = need > WINDOW ? (size_t)need : WINDOW;
    if (need > left)
        return shuffle_damaged(s->name, s->at, e);
    if (want > left)
        want = (size_t)left;
    if (have)
        memmove(s->window.p, s->window.p + passed, have);
    s->window.len = have;
    s->window_at = s->at;
    if (buf_reserve(&s->window, want - have, e) ||
        read_all(s->part, s->name, s->window.p + have, want - have, s->at + have, e))
        return -1;
    s->window.len = want;
    return 0;
}

int shuffle_scan_next(struct shuffle_scan *s, const unsigned char **entry, struct err *e)
{
    if (s->at == s->part->len)
        return 0;
    if (scan_fill(s, ENTRY_PREFIX, e) || scan_fill(s, entry_len(s->window.p + (s->at - s->window_at)), e))
        return -1;
    *entry = s->window.p + (s->at - s->window_at);
    if (!shuffle_entry_good(*entry))
        return shuffle_damaged(s->name, s->at, e);
    s->at += entry_len(*entry);
    return 1;
}

int shuffle_scan_all(const struct shuffle_part *p, const char *name, struct err *e)
{
    struct shuffle_scan scan = {.part = p, .name = name};
    const unsigned char *entry;
    int rc;
    while ((rc = shuffle_scan_next(&scan, &entry, e)) > 0)
        ;
    buf_free(&scan.window);
    return rc;
}
