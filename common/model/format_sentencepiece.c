/* format_sentencepiece.c - SentencePiece's tokenizer.model of type BPE: a protobuf message, ModelProto of that
 * project's sentencepiece_model.proto. Read as in its model_interface.cc, bpe_model.cc and normalizer.cc.
 *
 * The model is the same as from a tokenizer.json with Prepend, Replace, byte_fallback and fuse_unk. CONTROL and UNKNOWN
 * pieces are special tokens (SentencePiece does not recognize them in text, like --special=text); USER_DEFINED pieces
 * are other added tokens.
 */
#include "base/sys/bytes.h"
#include "model/format_hf_internal.h"
#include "model/model_convert.h"
#include "unicode/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- The wire format of protobuf ---- */

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

#define TAG(number, wire) ((number) << 3 | (wire))

struct field {
    uint64_t tag, value;  /* the value of a VARINT or FIXED32 */
    struct cursor inside; /* the contents of BYTES */
};

/* Reads the next field of a message. 1; 0: end of the message; -1: malformed. */
static int next(struct cursor *c, struct field *f)
{
    if (c->p == c->end)
        return 0;
    *f = (struct field){.tag = get_varint(c)};
    const unsigned wire = f->tag & 7;
    if (wire == VARINT || wire == BYTES)
        f->value = get_varint(c);
    const uint64_t len = wire == BYTES ? f->value : wire == FIXED64 ? 8 : wire == FIXED32 ? 4 : 0;
    if (c->bad || f->tag >> 3 == 0 || (wire > BYTES && wire != FIXED32) || len > cursor_left(c))
        return -1;
    if (wire == FIXED32)
        f->value = load_le(c->p, 4);
    f->inside = cursor_over(c->p, (size_t)len);
    c->p += len;
    return 1;
}

/* Whether the file begins with a piece, which begins with its text. */
static bool sniff(const unsigned char *p, size_t n)
{
    struct cursor c = cursor_over(p, n);
    struct field f = {0}, inside = {0};
    return next(&c, &f) > 0 && f.tag == TAG(1, BYTES) && next(&f.inside, &inside) > 0 && inside.tag == TAG(1, BYTES);
}

/* ---- The fields ---- */

enum model_type { UNIGRAM = 1, BPE };
enum piece_type { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };
enum message { MODEL, PIECE, TRAINER, NORMALIZER, DENORMALIZER = 5 }; /* by its field number in MODEL */

struct sentencepiece {
    struct hf_reader hf; /* of r, only the name and the error are used */
    const unsigned char *text;
    uint32_t *rank; /* by id: see convert_by_ranks; owned */
    size_t rank_cap, n_bytes;
    /* Fields. piece, score and piece_type are those of the last piece. Strings point into the text. */
    struct str piece, charsmap, decoder_charsmap, eos, pad;
    uint64_t score, piece_type, type, byte_fallback, suffix, prefix, strip, escape;
};

#define MEMBER(name) offsetof(struct sentencepiece, name)

static const struct {
    enum message of;
    unsigned tag;
    size_t to; /* a struct str for BYTES, else a uint64_t */
} members[] = {
    {PIECE, TAG(1, BYTES), MEMBER(piece)},
    {PIECE, TAG(2, FIXED32), MEMBER(score)},
    {PIECE, TAG(3, VARINT), MEMBER(piece_type)},
    {TRAINER, TAG(3, VARINT), MEMBER(type)},
    {TRAINER, TAG(24, VARINT), MEMBER(suffix)},
    {TRAINER, TAG(35, VARINT), MEMBER(byte_fallback)},
    {TRAINER, TAG(47, BYTES), MEMBER(eos)},
    {TRAINER, TAG(48, BYTES), MEMBER(pad)},
    {NORMALIZER, TAG(2, BYTES), MEMBER(charsmap)},
    {NORMALIZER, TAG(3, VARINT), MEMBER(prefix)},
    {NORMALIZER, TAG(4, VARINT), MEMBER(strip)},
    {NORMALIZER, TAG(5, VARINT), MEMBER(escape)},
    {DENORMALIZER, TAG(2, BYTES), MEMBER(decoder_charsmap)},
};

static int bad_piece(const struct sentencepiece *in, size_t id, struct str s, const char *why)
{
    char show[60];
    return err_at(in->hf.r.e, EX_DATAERR, in->hf.r.name, ERR_NO_OFFSET, "piece %zu, \"%s\", %s", id,
                  build_show(show, sizeof show, s.p, s.len, false), why);
}

static int check_piece(const struct sentencepiece *in)
{
    const struct str s = in->piece;
    const uint64_t type = in->piece_type, infinite = 0x7F800000;
    bool cut;
    if (!s.len || utf8_valid_len(s.p, s.len, &cut) != s.len)
        return bad_piece(in, in->hf.n_vocab, str_of(""), s.len ? "is not UTF-8" : "is empty");
    const bool is_char = s.len == utf8_char_len(s.p[0]), spaces = metaspace_in(s.p, s.len);
    const char *why = (in->score & infinite) == infinite         ? "has a score that is not a number"
                      : type < NORMAL || type > BYTE             ? "has an unknown type"
                      : type == UNKNOWN && in->hf.unk_token.s[0] ? "is a second UNKNOWN piece"
                      : memchr(s.p, ' ', s.len)                  ? "has a space that is not U+2581: not supported"
                      : type == USER_DEFINED && spaces           ? "is USER_DEFINED, with a space: not supported"
                      : type == UNUSED && !is_char               ? "is UNUSED: not supported"
                      : (type == UNKNOWN || type == CONTROL) && is_char
                          ? "is UNKNOWN or CONTROL, and a character: not supported"
                          : NULL;
    return why ? bad_piece(in, in->hf.n_vocab, s, why) : 0;
}

/* Maps the bits of a float to a rank: the higher the score, the lower the rank. */
static uint32_t rank_of(uint32_t score)
{
    return score == 1U << 31 ? INT32_MAX : score >> 31 ? score : INT32_MAX - score;
}

static int add_piece(struct sentencepiece *in)
{
    struct hf_reader *hf = &in->hf;
    const struct str s = in->piece;
    const size_t id = hf->n_vocab;
    const uint64_t type = in->piece_type;
    unsigned char *to;
    if (check_piece(in) || array_grow(&in->rank, &in->rank_cap, id + 1, sizeof *in->rank, "the pieces", hf->r.e) ||
        !(to = model_room(hf->m, s.len + BYTE_LEVEL_PAD, hf->r.e)))
        return -1;
    const size_t len = spelling_get(hf->m->spelling, to, s.p, s.len);
    model_keep(hf->m, len);
    in->rank[id] = type == NORMAL || type == UNUSED ? rank_of((uint32_t)in->score) : CONVERT_NO_RANK;
    in->n_bytes += type == BYTE;
    hf->n_vocab++;
    if (build_token(&hf->b, to, len, true, id))
        return -1;
    if (type == UNKNOWN) /* truncated if it is long */
        memcpy(hf->unk_token.s, s.p, s.len < sizeof hf->unk_token.s ? s.len : sizeof hf->unk_token.s - 1);
    if (type != UNKNOWN && type != CONTROL && type != USER_DEFINED)
        return 0;
    struct hf_added a = {.p = build_copy(&hf->b, s.p, s.len), .len = s.len, .id = id, .special = type != USER_DEFINED};
    return a.p ? hf_tokens_add(&hf->added, a, hf->r.e) : -1;
}

static int take_fields(struct sentencepiece *in, struct cursor c, enum message of)
{
    struct field f;
    int more;
    while ((more = next(&c, &f)) > 0) {
        const struct str bytes = {f.inside.p, cursor_left(&f.inside)};
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            if (members[i].of == of && members[i].tag == f.tag)
                memcpy((char *)in + members[i].to, (f.tag & 7) == BYTES ? (void *)&bytes : &f.value,
                       (f.tag & 7) == BYTES ? sizeof bytes : sizeof f.value);
        if (of != MODEL || (f.tag & 7) != BYTES || f.tag >> 3 > DENORMALIZER)
            continue;
        in->piece = (struct str){0};
        in->score = 0;
        in->piece_type = NORMAL;
        if (take_fields(in, f.inside, (enum message)(f.tag >> 3)) || (f.tag >> 3 == PIECE && add_piece(in)))
            return -1;
    }
    return more ? err_at(in->hf.r.e, EX_DATAERR, in->hf.r.name, (uint64_t)(c.p - in->text),
                         "a field that is malformed, or exceeds its message: the file is truncated or damaged")
                : 0;
}

static int check_settings(const struct sentencepiece *in)
{
    const char *why = in->type == UNIGRAM        ? "a Unigram model, not BPE: not supported"
                      : in->type != BPE          ? "neither a BPE model nor a Unigram one: not supported"
                      : in->charsmap.len         ? "its normalizer replaces characters, as nmt_nfkc does: not supported"
                      : in->decoder_charsmap.len ? "its denormalizer replaces characters: not supported"
                      : in->strip                ? "remove_extra_whitespaces, which removes spaces: not supported"
                      : in->suffix               ? "treat_whitespace_as_suffix: not supported"
                      : !in->escape              ? "without escape_whitespaces: not supported"
                      : !in->hf.unk_token.s[0]   ? "no piece is UNKNOWN"
                      : in->n_bytes != (in->byte_fallback ? 256 : 0)
                          ? "with byte_fallback, 256 pieces must be BYTE; without it, none"
                          : NULL;
    return why ? err_at(in->hf.r.e, EX_DATAERR, in->hf.r.name, ERR_NO_OFFSET, "%s", why) : 0;
}

/* ---- The merges ----
 *
 * Two neighbors merge whenever their text together is a token with a score, the highest score first, the leftmost of
 * equal scores. A token is always made by the last merge of its own text alone (see model_convert.c), so a list of
 * these merges, by descending score, is equivalent.
 *
 * Equal scores are supported if the tokens are sequences of one character c, whose parts are c or shorter sequences
 * (Llama's spaces). From the left, c and c become a sequence; it merges with the sequence before it if that makes a
 * token, else with the c after it; if neither does, the next sequence begins. A list of these merges with the longest
 * first is equivalent: elsewhere only c and c can merge, which is the last in the list, and the sequence before it,
 * which is longer than c, makes the longer token. No other merges may happen in between, so no part may have a lower
 * score than the whole. */

static int by_rank(const void *a, const void *b, void *sentencepiece)
{
    const struct sentencepiece *in = sentencepiece;
    const uint32_t g = ((const struct merge *)a)->result, h = ((const struct merge *)b)->result;
    const uint32_t n = in->hf.m->token[g].len, k = in->hf.m->token[h].len;
    return in->rank[g] != in->rank[h] ? (in->rank[g] > in->rank[h]) - (in->rank[g] < in->rank[h])
           : n != k                   ? (n < k) - (n > k)
                                      : (g > h) - (g < h);
}

/* The rank of a token that a merge makes, or `other` for a character. */
static uint32_t made_at(const struct sentencepiece *in, uint32_t id, uint32_t other)
{
    const struct model_token *t = &in->hf.m->token[id];
    return t->len > utf8_char_len(t->p[0]) ? in->rank[id] : other;
}

/* Whether a merge makes a sequence of one character, from that character and sequences of it with the same score. */
static bool makes_run(const struct sentencepiece *in, const struct merge *g)
{
    const struct model_token *t = &in->hf.m->token[g->result];
    const size_t n = utf8_char_len(t->p[0]);
    const uint32_t rank = in->rank[g->result], left = made_at(in, g->left, rank), right = made_at(in, g->right, rank);
    return !memcmp(t->p, t->p + n, t->len - n) && left == rank && right == rank;
}

static int set_merges(struct sentencepiece *in)
{
    struct model *m = in->hf.m;
    size_t missing;
    bool tied = false, other = false; /* equal scores exist; merges exist that are not supported with them */
    if (convert_by_ranks(m, in->rank, &missing, in->hf.r.e))
        return -1;
    qsort_r(m->merge, m->n_merges, sizeof *m->merge, by_rank, in);
    for (size_t k = 0; k < m->n_merges; k++) {
        const struct merge *g = &m->merge[k];
        const struct str text = {m->token[g->result].p, m->token[g->result].len};
        const uint32_t rank = in->rank[g->result];
        const bool same = k && in->rank[g[-1].result] == rank;
        if (g->left == MODEL_NO_ID || g->right == MODEL_NO_ID)
            return bad_piece(in, g->result, text, "is made of a character that is not a piece: not supported");
        tied = tied || same;
        other = other || made_at(in, g->left, 0) > rank || made_at(in, g->right, 0) > rank ||
                (same && !(makes_run(in, g - 1) && makes_run(in, g)));
        if (tied && other)
            return bad_piece(in, g->result, text,
                             "has merges whose order, as scores are equal, depends on the text: not supported");
    }
    return 0;
}

/* ---- The model ---- */

static int take_model(struct sentencepiece *in)
{
    struct hf_reader *hf = &in->hf;
    struct model *m = hf->m;
    m->unknown = (struct model_unknown){.bytes = in->byte_fallback, .fuse = true};
    m->decoding = (struct model_decoding){.spaces = true, .bytes = in->byte_fallback, .strip = in->prefix};
    m->pattern = "bytes";
    hf->metaspace = (struct hf_metaspace){.replace = true, .prepend = in->prefix};
    for (size_t i = 0; i < hf->added.n; i++)
        hf->added.p[i].flags = in->prefix && !hf->added.p[i].special ? SPECIAL_INSIDE : 0;
    if (build_tokens_end(&hf->b) || (!hf->rules_only && set_merges(in)) || hf_take_characters(hf) ||
        hf_take_added(hf) || (hf->rules_only ? build_special_end : build_end)(&hf->b))
        return -1;
    for (size_t i = 0; i < m->n_special; i++) {
        const struct str text = {m->special[i].p, m->special[i].len};
        m->eos = str_equal(text, in->eos) ? &m->special[i] : m->eos;
        m->pad = str_equal(text, in->pad) ? &m->special[i] : m->pad;
    }
    return 0;
}

static int read_sentencepiece(struct model *m, struct model_source *from, struct err *e)
{
    struct sentencepiece in = {.hf = {.m = m, .rules_only = from->rules_only, .r = {.name = from->name, .e = e}},
                               .eos = str_of("</s>"),
                               .pad = str_of("<pad>"),
                               .type = UNIGRAM,
                               .prefix = true,
                               .strip = true,
                               .escape = true};
    if (model_source_says_all(from, "tokenizer.model", e) || model_file_all(from->fd, from->name, &from->head, e))
        return -1;
    in.text = from->head.p;
    int rc = build_init(&in.hf.b, m, from->name, from->head.len / 16, e);
    m->spelling = SPELLING_SPACES;
    rc = rc || take_fields(&in, cursor_over(in.text, from->head.len), MODEL) || check_settings(&in) || take_model(&in);
    build_free(&in.hf.b);
    free(in.hf.added.p);
    free(in.rank);
    return rc ? -1 : 0;
}

const struct model_format format_sentencepiece = {
    .name = "sentencepiece",
    .content = "SentencePiece's tokenizer.model",
    .in_directory = "tokenizer.model", /* the format of .tiktoken finds it */
    .is_binary = true,
    .sniff = sniff,
    .read = read_sentencepiece,
    .dialect = PATTERN_ONIGURUMA,
};
