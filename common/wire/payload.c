/* payload.c - see payload.h. */
#include "wire/payload.h"

#include <stdlib.h>
#include <string.h>

int payload_damaged(struct err *e, const char *what)
{
    return err_set(e, EX_DATAERR, "a %s record with damaged fields", what);
}

int source_number_check(uint64_t number, struct err *e)
{
    return number < SOURCES_MAX ? 0
                                : err_set(e, EX_DATAERR, "source number %llu: more than %d inputs in one run",
                                          (unsigned long long)number, SOURCES_MAX);
}

/* ---- Extensions ---- */

int payload_get_extensions(struct cursor *c, const char *what, struct extension *known, size_t n_known, struct err *e)
{
    while (!c->bad && cursor_left(c)) {
        struct str name = get_str(c);
        unsigned needed = get_choice(c, 1);
        struct str value = get_str(c);
        size_t i = 0;
        if (c->bad || name.len == 0)
            return payload_damaged(e, what);
        while (i < n_known && !str_equal(name, str_of(known[i].name)))
            i++;
        if (i < n_known)
            known[i].value = value;
        else if (needed)
            return err_set(e, EX_DATAERR,
                           "%s with the extension \"%.*s\", which this program does not know; use one version of "
                           "bpetools everywhere",
                           what, (int)(name.len < 100 ? name.len : 100), (const char *)name.p);
    }
    return c->bad ? payload_damaged(e, what) : 0;
}

int payload_put_extension(struct buf *out, const char *name, bool required, struct str value, struct err *e)
{
    if (put_str(out, str_of(name), e) || put_varint(out, required, e) || put_str(out, value, e))
        return -1;
    return 0;
}

/* ---- Rules, and how a source is read ---- */

#define ID "id"                 /* extensions of a reading: the field named by --id; */
#define COUNTS "counts"         /* its lines are counts, made elsewhere; */
#define WEIGHT "weight"         /* the weight of its counts */
#define ADDED "added"           /* extensions of rules: the flags of the special tokens, a byte each; */
#define PREFIX "prefix"         /* the prefix; */
#define NORMALIZE "normalize"   /* the normalizer's name; */
#define SPLIT "split"           /* how each regex splits, a byte each; */
#define SPACES "metaspace"      /* U+2581 is a space; */
#define SUPERWORDS "superwords" /* what was counted are ids */

static int put_strs(struct buf *out, const struct str *s, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (put_str(out, s[i], e))
            return -1;
    }
    return 0;
}

static int get_regexes(struct rules *r, uint64_t n, struct cursor *c, struct err *e)
{
    if (n > cursor_left(c)) /* each takes at least a byte */
        return payload_damaged(e, "rules");
    r->regex = calloc(n + 1, sizeof *r->regex);
    if (!r->regex)
        return err_mem(e, "the rules", n * sizeof *r->regex);
    while (r->n_regex < n)
        r->regex[r->n_regex++] = get_str(c);
    return 0;
}

static int put_special(struct buf *out, const struct rules *r, struct err *e)
{
    if (put_varint(out, r->n_special, e))
        return -1;
    for (size_t i = 0; i < r->n_special; i++) {
        if (put_str(out, r->special[i].text, e))
            return -1;
    }
    return 0;
}

static int get_special(struct rules *r, uint64_t n, struct cursor *c, struct err *e)
{
    if (n > cursor_left(c))
        return payload_damaged(e, "rules");
    r->special = calloc(n + 1, sizeof *r->special);
    if (!r->special)
        return err_mem(e, "the rules", n * sizeof *r->special);
    for (; r->n_special < n; r->n_special++) {
        r->special[r->n_special].text = get_str(c);
        c->bad |= r->special[r->n_special].text.len == 0;
    }
    return 0;
}

/* Written only if a token has flags, so that rules without flags are byte for byte those of older versions. */
static int put_flags(struct buf *out, const struct rules *r, struct err *e)
{
    struct buf flags = {0};
    unsigned any = 0;
    int rc = 0;
    for (size_t i = 0; i < r->n_special && rc == 0; i++) {
        any |= r->special[i].flags;
        rc = buf_put_byte(&flags, (unsigned char)r->special[i].flags, e);
    }
    if (any && rc == 0)
        rc = payload_put_extension(out, ADDED, true, buf_str(&flags), e);
    buf_free(&flags);
    return rc;
}

static int get_flags(struct rules *r, struct str flags, struct err *e)
{
    unsigned any = 0;
    if (!flags.len)
        return 0;
    if (flags.len != r->n_special)
        return payload_damaged(e, "rules");
    for (size_t i = 0; i < r->n_special; i++)
        any |= r->special[i].flags = flags.p[i];
    return any & ~(unsigned)SPECIAL_FLAGS ? err_set(e, EX_DATAERR,
                                                    "rules with a special token's flag 0x%02X, which this program does "
                                                    "not know; use one version of bpetools everywhere",
                                                    any & ~(unsigned)SPECIAL_FLAGS)
                                          : 0;
}

static int put_metaspace(struct buf *out, const struct metaspace *m, struct err *e)
{
    struct buf value = {0};
    int rc = put_varint(&value, m->split, e) || put_varint(&value, m->cut, e) || put_varint(&value, m->place, e) ||
                     payload_put_extension(out, SPACES, true, buf_str(&value), e)
                 ? -1
                 : 0;
    buf_free(&value);
    return rc;
}

static int get_metaspace(struct rules *r, struct str value, struct err *e)
{
    struct cursor c = cursor_over(value.p, value.len);
    if (!value.len)
        return 0;
    r->metaspace.on = true;
    r->metaspace.split = get_choice(&c, 1);
    r->metaspace.cut = get_choice(&c, 1);
    r->metaspace.place = (enum prefix_place)get_choice(&c, N_PREFIX_PLACES - 1);
    return c.bad || cursor_left(&c) || !str_equal(r->pattern, str_of("bytes")) ? payload_damaged(e, "rules") : 0;
}

int rules_put(struct buf *out, const struct rules *r, struct err *e)
{
    if (put_varint(out, r->n_regex, e) || (r->n_regex == 0 && put_str(out, r->pattern, e)) ||
        put_strs(out, r->regex, r->n_regex, e) || put_special(out, r, e) || put_flags(out, r, e) ||
        (r->prefix.len && payload_put_extension(out, PREFIX, true, r->prefix, e)) ||
        (r->normalizer && payload_put_extension(out, NORMALIZE, true, str_of(normalizer_names[r->normalizer]), e)) ||
        (r->split.len && payload_put_extension(out, SPLIT, true, r->split, e)) ||
        (r->metaspace.on && put_metaspace(out, &r->metaspace, e)) ||
        (r->superwords.len && payload_put_extension(out, SUPERWORDS, true, r->superwords, e)))
        return -1;
    return 0;
}

static int get_normalizer(struct rules *r, struct str name, struct err *e)
{
    if (!name.p)
        return 0;
    for (unsigned i = NORMALIZER_NONE + 1; normalizer_names[i]; i++) {
        if (str_equal(name, str_of(normalizer_names[i]))) {
            r->normalizer = (enum normalizer)i;
            return 0;
        }
    }
    return err_set(e, EX_DATAERR,
                   "rules with the normalizer \"%.*s\", which this program does not know; use one "
                   "version of bpetools everywhere",
                   (int)(name.len < 100 ? name.len : 100), (const char *)name.p);
}

static int get_split(struct rules *r, struct str split, struct err *e)
{
    bool good = !split.len || split.len == r->n_regex;
    for (size_t i = 0; good && i < split.len; i++)
        good = (split.p[i] & SPLIT_MASK) < SPLIT_N && !(split.p[i] & ~(SPLIT_MASK | SPLIT_BYTE_LEVEL));
    r->split = split;
    return good ? 0 : payload_damaged(e, "rules");
}

int rules_get(struct rules *r, struct str encoded, struct err *e)
{
    struct cursor c = cursor_over(encoded.p, encoded.len);
    enum { FLAGS, FRONT, NORMAL, HOW, META, SUPER, N };
    struct extension x[N] = {[FLAGS] = {.name = ADDED}, [FRONT] = {.name = PREFIX}, [NORMAL] = {.name = NORMALIZE},
                             [HOW] = {.name = SPLIT},   [META] = {.name = SPACES},  [SUPER] = {.name = SUPERWORDS}};
    *r = (struct rules){0};
    uint64_t n_regex = get_varint(&c);
    if (n_regex == 0)
        r->pattern = get_str(&c);
    int rc = get_regexes(r, n_regex, &c, e) || get_special(r, get_varint(&c), &c, e) ? -1
             : c.bad                                                                 ? payload_damaged(e, "rules")
                     : payload_get_extensions(&c, "rules", x, N, e) || get_flags(r, x[FLAGS].value, e) ||
                           get_normalizer(r, x[NORMAL].value, e) || get_split(r, x[HOW].value, e) ||
                           get_metaspace(r, x[META].value, e);
    r->prefix = x[FRONT].value;
    r->superwords = x[SUPER].value;
    if (rc)
        rules_free(r);
    return rc ? -1 : 0;
}

static int put_weight(struct buf *out, struct ratio weight, struct err *e)
{
    unsigned char value[2 * VARINT_MAX] = {0};
    size_t n = varint_put(value, weight.num);
    n += varint_put(value + n, weight.den);
    return payload_put_extension(out, WEIGHT, true, (struct str){value, n}, e);
}

struct ratio payload_get_ratio(struct cursor *c)
{
    struct ratio v;
    v.num = get_varint(c);
    v.den = get_varint(c);
    c->bad |= !ratio_is_reduced(v.num, v.den);
    return v;
}

static int get_weight(struct reading *r, struct str value, struct err *e)
{
    struct cursor c = cursor_over(value.p, value.len);
    r->weight = value.len ? payload_get_ratio(&c) : (struct ratio){1, 1};
    return c.bad || cursor_left(&c) ? payload_damaged(e, "reading") : 0;
}

int reading_put(struct buf *out, const struct reading *r, struct err *e)
{
    if (put_varint(out, r->invalid, e) || put_varint(out, r->form, e) || put_str(out, r->field, e) ||
        put_varint(out, r->skip_bad_lines, e) || (r->id.len && payload_put_extension(out, ID, true, r->id, e)) ||
        (!ratio_is_one(r->weight) && put_weight(out, r->weight, e)))
        return -1;
    const unsigned char counts[] = {(unsigned char)r->counts, r->raw};
    return r->counts ? payload_put_extension(out, COUNTS, true, (struct str){counts, sizeof counts}, e) : 0;
}

static int get_counts(struct reading *r, struct str value, struct err *e)
{
    struct cursor c = cursor_over(value.p, value.len);
    r->counts = value.p ? (enum counts_order)get_choice(&c, COUNTS_LAST) : COUNTS_NONE;
    r->raw = value.p && get_choice(&c, 1);
    return c.bad || cursor_left(&c) || (value.p && !r->counts) ? payload_damaged(e, "reading") : 0;
}

int reading_get(struct reading *r, struct str encoded, struct err *e)
{
    struct cursor c = cursor_over(encoded.p, encoded.len);
    r->invalid = (enum invalid_policy)get_choice(&c, INVALID_BYTES);
    r->form = (enum form)get_choice(&c, N_INPUT_FORMS - 1);
    r->field = get_str(&c);
    r->skip_bad_lines = get_choice(&c, 1);
    struct extension x[] = {{.name = ID}, {.name = COUNTS}, {.name = WEIGHT}};
    if (c.bad ? payload_damaged(e, "reading") : payload_get_extensions(&c, "reading", x, sizeof x / sizeof *x, e))
        return -1;
    r->id = x[0].value;
    return get_counts(r, x[1].value, e) || get_weight(r, x[2].value, e) ? -1 : 0;
}

/* ---- Chunk ---- */

int chunk_put_record(struct buf *out, const struct chunk *c, struct err *e)
{
    struct buf head = {0}; /* separate from the text, to copy the text only once */
    int rc = buf_put(&head, c->run, ID_LEN, e) || put_str(&head, c->rules, e) || put_str(&head, c->reading, e) ||
             put_varint(&head, c->source, e) || put_str(&head, c->name, e) || put_varint(&head, c->offset, e) ||
             put_varint(&head, c->inside, e) || put_varint(&head, c->before, e) || put_varint(&head, c->line, e) ||
             record_put_parts(out, RECORD_CHUNK, head.p, head.len, c->text.p, c->text.len, e);
    buf_free(&head);
    return rc ? -1 : 0;
}

int chunk_get(struct chunk *c, const struct record *rec, struct err *e)
{
    struct cursor in = cursor_over(rec->payload, rec->len);
    c->run = get_bytes(&in, ID_LEN);
    c->rules = get_str(&in);
    c->reading = get_str(&in);
    c->source = get_varint(&in);
    c->name = get_str(&in);
    c->offset = get_varint(&in);
    c->inside = get_choice(&in, 1);
    c->before = get_varint(&in);
    c->line = get_varint(&in);
    c->text = (struct str){in.p, cursor_left(&in)};
    if (in.bad || c->offset > UINT64_MAX - c->text.len)
        return payload_damaged(e, "chunk");
    return 0;
}

/* ---- Range ---- */

uint64_t access_text(enum source_access access, uint64_t len)
{
    return access == ACCESS_COMPRESSED && len <= UINT64_MAX / ACCESS_RATIO ? len * ACCESS_RATIO : len;
}

int range_put_head(struct buf *out, const struct range_head *h, struct err *e)
{
    if (buf_put(out, h->run, ID_LEN, e) || put_str(out, h->rules, e) || put_varint(out, h->promised_bytes, e) ||
        put_varint(out, h->n_files, e))
        return -1;
    return 0;
}

int range_put_file(struct buf *out, const struct source_facts *f, struct err *e)
{
    if (put_varint(out, f->number, e) || put_str(out, f->name, e) || put_str(out, f->reading, e) ||
        put_varint(out, f->size, e) || put_varint(out, f->mtime_s, e) || put_varint(out, f->mtime_ns, e) ||
        put_varint(out, f->access, e) || put_varint(out, f->n_pieces, e))
        return -1;
    return 0;
}

int range_put_piece(struct buf *out, uint64_t offset, uint64_t len, struct err *e)
{
    if (put_varint(out, offset, e) || put_varint(out, len, e))
        return -1;
    return 0;
}

int range_get_head(struct range_head *h, struct cursor *c, const struct record *rec, struct err *e)
{
    *c = cursor_over(rec->payload, rec->len);
    h->run = get_bytes(c, ID_LEN);
    h->rules = get_str(c);
    h->promised_bytes = get_varint(c);
    h->n_files = get_varint(c);
    return c->bad ? payload_damaged(e, "range") : 0;
}

int range_get_file(struct source_facts *f, struct cursor *c, struct err *e)
{
    f->number = get_varint(c);
    f->name = get_str(c);
    f->reading = get_str(c);
    f->size = get_varint(c);
    f->mtime_s = get_varint(c);
    f->mtime_ns = get_varint(c);
    f->access = (enum source_access)get_choice(c, ACCESS_COMPRESSED);
    f->n_pieces = get_varint(c);
    return c->bad ? payload_damaged(e, "range") : 0;
}

int range_get_piece(uint64_t *offset, uint64_t *len, const struct source_facts *f, struct cursor *c, struct err *e)
{
    *offset = get_varint(c);
    *len = get_varint(c);
    if (c->bad || *len == 0 || *len > f->size || *offset > f->size - *len)
        return payload_damaged(e, "range");
    return 0;
}

/* ---- Promise ---- */

int promise_put_head(struct buf *out, const struct promise_head *h, struct err *e)
{
    if (put_str(out, h->rules, e) || put_varint(out, h->n_sources, e))
        return -1;
    return 0;
}

int promise_put_source(struct buf *out, const struct source_facts *s, struct err *e)
{
    if (put_str(out, s->name, e) || put_str(out, s->reading, e) || put_varint(out, s->size, e) ||
        put_varint(out, s->access, e) || put_varint(out, s->mtime_s, e) || put_varint(out, s->mtime_ns, e))
        return -1;
    return 0;
}

int promise_get_head(struct promise_head *h, struct cursor *c, struct err *e)
{
    h->rules = get_str(c);
    h->n_sources = get_varint(c);
    return c->bad || h->n_sources > cursor_left(c) ? payload_damaged(e, "promise") : 0;
}

int promise_get_source(struct source_facts *s, struct cursor *c, struct err *e)
{
    *s = (struct source_facts){0};
    s->name = get_str(c);
    s->reading = get_str(c);
    s->size = get_varint(c);
    s->access = (enum source_access)get_choice(c, ACCESS_COMPRESSED);
    s->mtime_s = get_varint(c);
    s->mtime_ns = get_varint(c);
    return c->bad ? payload_damaged(e, "promise") : 0;
}

/* ---- The records of a batch ---- */

static void get_batch_place(struct batch_place *p, struct cursor *c)
{
    p->run = get_bytes(c, ID_LEN);
    p->batch = get_bytes(c, ID_LEN);
    p->seq = get_varint(c);
}

static int put_batch_place(struct buf *out, const struct batch_place *p, struct err *e)
{
    if (buf_put(out, p->run, ID_LEN, e) || buf_put(out, p->batch, ID_LEN, e) || put_varint(out, p->seq, e))
        return -1;
    return 0;
}

int batch_place_get(struct batch_place *p, const struct record *rec, struct err *e)
{
    struct cursor c = cursor_over(rec->payload, rec->len);
    get_batch_place(p, &c);
    return c.bad ? payload_damaged(e, rec->type == RECORD_TOKENS ? "tokens" : "words") : 0;
}

/* ---- Words ---- */

/* Added to the kind of a record with a denominator. */
enum { WORDS_DIVIDED = WORDS_MORE + 1, WORDS_KINDS = WORDS_DIVIDED + WORDS_FIRST + 1 };

int words_put_head(struct buf *out, const struct batch_place *in, enum words_kind kind, uint64_t denominator,
                   struct err *e)
{
    bool divided = kind != WORDS_MORE && denominator > 1;
    if (put_batch_place(out, in, e) || put_varint(out, divided ? (unsigned)kind + WORDS_DIVIDED : kind, e) ||
        (divided && put_varint(out, denominator, e)))
        return -1;
    return 0;
}

int words_get(struct words *w, const struct record *rec, struct err *e)
{
    struct cursor c = cursor_over(rec->payload, rec->len);
    get_batch_place(&w->in, &c);
    uint64_t kind = get_varint(&c);
    if (!c.bad && kind >= WORDS_KINDS)
        return err_set(e, EX_DATAERR,
                       "a words record of kind %llu, which this program does not know; use one version of bpetools "
                       "everywhere",
                       (unsigned long long)kind);
    bool divided = kind >= WORDS_DIVIDED;
    w->kind = (enum words_kind)(divided ? kind - WORDS_DIVIDED : kind);
    w->denominator = divided ? get_varint(&c) : 1;
    c.bad |= divided && w->denominator < 2;
    w->entries = (struct str){c.p, cursor_left(&c)};
    return c.bad ? payload_damaged(e, "words") : 0;
}

/* ---- Tokens ---- */

size_t document_mark_put(unsigned char *p, const struct document_mark *m, uint64_t before)
{
    size_t n = varint_put(p, m->n_ids - before);
    n += varint_put(p + n, m->gap);
    n += varint_put(p + n, m->len);
    n += varint_put(p + n, m->lines);
    n += varint_put(p + n, m->id.len);
    if (m->id.len)
        memcpy(p + n, m->id.p, m->id.len);
    return n + m->id.len;
}

struct document_mark document_mark_get(struct cursor *c, uint64_t before)
{
    struct document_mark m;
    m.n_ids = get_varint(c);
    c->bad |= __builtin_add_overflow(m.n_ids, before, &m.n_ids);
    m.gap = get_varint(c);
    m.len = get_varint(c);
    m.lines = get_varint(c);
    m.id = get_str(c);
    return m;
}

static int put_tail(struct buf *out, const struct tokens *t, struct err *e)
{
    const struct piece_tail *x = &t->tail;
    if (!t->last)
        return put_varint(out, 0, e);
    if (put_varint(out, 1, e) || put_varint(out, x->gap, e) || put_varint(out, x->open, e) ||
        put_varint(out, x->text, e) || put_varint(out, x->lines, e))
        return -1;
    return 0;
}

int tokens_put(struct buf *out, const struct tokens *t, struct err *e)
{
    if (put_batch_place(out, &t->in, e) || put_u64le(out, t->model, e) || put_varint(out, t->source, e) ||
        put_varint(out, t->begin, e) || put_varint(out, t->end, e) || put_varint(out, t->first, e) ||
        put_varint(out, t->width, e) || put_tail(out, t, e) || put_varint(out, t->n_marks, e) ||
        buf_put(out, t->marks.p, t->marks.len, e) || buf_put(out, t->ids.p, t->ids.len, e))
        return -1;
    return 0;
}

static void get_tail(struct tokens *t, struct cursor *c)
{
    t->tail = (struct piece_tail){0};
    t->last = get_choice(c, 1);
    if (!t->last)
        return;
    t->tail.gap = get_varint(c);
    t->tail.open = get_varint(c);
    t->tail.text = get_varint(c);
    t->tail.lines = get_varint(c);
}

int tokens_get(struct tokens *t, const struct record *rec, struct err *e)
{
    struct cursor c = cursor_over(rec->payload, rec->len);
    uint64_t n_ids = 0;
    get_batch_place(&t->in, &c);
    t->model = get_u64le(&c);
    t->source = get_varint(&c);
    t->begin = get_varint(&c);
    t->end = get_varint(&c);
    t->first = get_varint(&c);
    t->width = get_varint(&c);
    get_tail(t, &c);
    t->n_marks = get_varint(&c);
    const unsigned char *marks = c.p;
    for (uint64_t i = 0; i < t->n_marks && !c.bad; i++)
        n_ids = document_mark_get(&c, n_ids).n_ids;
    t->marks = (struct str){marks, (size_t)(c.p - marks)};
    t->ids = (struct str){c.p, cursor_left(&c)};
    if (c.bad || t->end < t->begin || (t->width != 2 && t->width != 4) || t->ids.len % t->width ||
        n_ids > t->ids.len / t->width)
        return payload_damaged(e, "tokens");
    return 0;
}
