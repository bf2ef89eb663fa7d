/* bpetools.h - the C library: text to the ids of its tokens, and back, in memory. See bpetools(3).
 *
 * A tokenizer is opened once and does not change. All functions may be called by several threads at once, also with the
 * same tokenizer, but for bpe_close. Nothing is printed, the process never ends, and no thread outlives a call: a
 * process may fork between calls, and while other threads are in one.
 *
 * A function that fails says so by what it returns (NULL, or a negative number); bpe_last_error then has the cause.
 * Text is UTF-8, whose lengths are in bytes; it may contain NUL bytes.
 */
#ifndef BPETOOLS_H
#define BPETOOLS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BPE_API __attribute__((visibility("default")))

#define BPE_UNKNOWN UINT64_MAX /* for a number that is not known */

/* An open tokenizer. */
typedef struct bpe_tokenizer bpe_tokenizer;

/* The version, "MAJOR.MINOR.PATCH". Static. */
BPE_API const char *bpe_version(void);

/* The libraries that are linked and the vector instructions in use, in one line. Static. */
BPE_API const char *bpe_build(void);

/* ---- Errors ---- */

struct bpe_error {
    int code;            /* what the programs would exit with, see bpe(7); 0: nothing failed in this thread yet */
    const char *message; /* one line with all of the following in it; NUL-terminated UTF-8, but for names of files */
    uint64_t text;       /* the index of the text in bpe_encode_batch; or BPE_UNKNOWN */
    uint64_t offset;     /* the byte in the text or file, from 0; or BPE_UNKNOWN */
    uint64_t line;       /* the line in the file, from 1; or 0 */
};

/* The cause of the last failure in this thread. Borrowed until the next function fails in it. */
BPE_API const struct bpe_error *bpe_last_error(void);

/* ---- Opening ---- */

/* Opens the tokenizer in a file or directory of any format that bpe-model(1) reads. pattern (bpe-chunk -p) and special,
 * an array of "TOKEN" or "TOKEN=ID" that ends with NULL (bpe-encode -s), are for files that do not say these; both may
 * be NULL. To be closed. NULL: it failed. */
BPE_API bpe_tokenizer *bpe_open(const char *path, const char *pattern, const char *const *special);

/* The same of a file's contents; name is what messages call it. Nothing is borrowed. */
BPE_API bpe_tokenizer *bpe_open_memory(const void *contents, size_t len, const char *name, const char *pattern,
                                       const char *const *special);

/* No other call may use it any more. NULL is fine. */
BPE_API void bpe_close(bpe_tokenizer *t);

/* ---- Encoding ---- */

/* What is done with special tokens in the text. Added tokens that are not special become their ids in any case. */
enum bpe_special {
    BPE_SPECIAL_TOKEN, /* they become their ids */
    BPE_SPECIAL_TEXT,  /* they are text as any other */
    BPE_SPECIAL_ERROR, /* they are an error, which names the token and its place */
};

/* Writes the ids of a text to ids[0 .. room). Returns their number, also if that is more than `room`: then ids has the
 * first of them. Text of n bytes rarely has more than n ids, but by normalization it can. -1: it failed. */
BPE_API ptrdiff_t bpe_encode(const bpe_tokenizer *t, const char *text, size_t len, enum bpe_special special,
                             uint32_t *ids, size_t room);

struct bpe_text {
    const char *p; /* may be NULL if len is 0 */
    size_t len;
};

/* The ids of n texts: those of text i are ids[offset[i] .. offset[i + 1]). */
struct bpe_batch {
    size_t n;
    uint32_t *ids;
    uint64_t *offset; /* n + 1 of them; the first is 0 */
};

/* Encodes n texts by this number of threads at most, the calling one included (0: as many as it has processors). *out
 * is owned then: bpe_batch_free. -1: it failed, by the first text that cannot be encoded; *out is empty. If n is
 * 0, nothing is checked. */
BPE_API int bpe_encode_batch(const bpe_tokenizer *t, const struct bpe_text *texts, size_t n, enum bpe_special special,
                             unsigned threads, struct bpe_batch *out);
BPE_API void bpe_batch_free(struct bpe_batch *b); /* an empty one is fine */

/* ---- Decoding ---- */

/* Writes the bytes that n ids stand for to text[0 .. room), without a NUL byte. Returns their number, also if that is
 * more than `room`: then text has the first of them. skip_special: special tokens are left out. -1: it failed. */
BPE_API ptrdiff_t bpe_decode(const bpe_tokenizer *t, const uint32_t *ids, size_t n, int skip_special, char *text,
                             size_t room);

/* ---- Tokens ---- */

/* All ids are smaller. */
BPE_API uint32_t bpe_vocab_size(const bpe_tokenizer *t);

/* The bytes of a token, as bpe_decode writes them inside of a text; and its name, as tokenizer.json spells it. Returns,
 * writes and fails as bpe_decode. */
BPE_API ptrdiff_t bpe_token_bytes(const bpe_tokenizer *t, uint32_t id, char *bytes, size_t room);
BPE_API ptrdiff_t bpe_token_name(const bpe_tokenizer *t, uint32_t id, char *name, size_t room);

/* The id of the token with these bytes, or with this name. -1: there is none (and bpe_last_error is as it was). */
BPE_API int64_t bpe_id_of_bytes(const bpe_tokenizer *t, const char *bytes, size_t len);
BPE_API int64_t bpe_id_of_name(const bpe_tokenizer *t, const char *name, size_t len);

/* A token that is found in text before all else. */
struct bpe_added {
    const char *text; /* borrowed until bpe_close; no NUL byte follows */
    size_t len;
    uint32_t id;
    int special; /* 0: it becomes its id in any case, and is decoded with skip_special */
};

/* All added tokens, by id, and in *n their number. Borrowed until bpe_close. */
BPE_API const struct bpe_added *bpe_added_tokens(const bpe_tokenizer *t, size_t *n);

/* The token that ends a text, and the one for padding: what the tokenizer's files say, else the one of a usual name, as
 * "<|endoftext|>" or "<pad>"; else, as what ends a text, the only special token, if that is not for padding. -1: there
 * is none. */
BPE_API int64_t bpe_eos_id(const bpe_tokenizer *t);
BPE_API int64_t bpe_pad_id(const bpe_tokenizer *t);

/* Equal for tokenizers with the same tokens, ids and merges: as manifest.json has it, see bpe-shard(1). */
BPE_API uint64_t bpe_fingerprint(const bpe_tokenizer *t);

#ifdef __cplusplus
}
#endif

#endif
