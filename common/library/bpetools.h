/* bpetools.h - the C library: encodes text to token ids and decodes ids to text, in memory. See bpetools(3).
 *
 * A tokenizer is opened once and does not change. Any number of threads may call any function with the same tokenizer
 * at the same time; only bpe_close must not overlap another call. The library never prints and never exits. No thread
 * outlives a call, so a process may fork between calls, and also while another thread is in a call.
 *
 * A function that fails returns NULL or a negative number; bpe_last_error then returns the cause. Text is UTF-8 and may
 * contain NUL bytes. Lengths are in bytes.
 */
#ifndef BPETOOLS_H
#define BPETOOLS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BPE_API __attribute__((visibility("default")))

#define BPE_UNKNOWN UINT64_MAX /* a number that is not known */

/* An open tokenizer. */
typedef struct bpe_tokenizer bpe_tokenizer;

/* The version, "MAJOR.MINOR.PATCH". A static string. */
BPE_API const char *bpe_version(void);

/* The linked libraries and the vector instructions in use, in one line. A static string. */
BPE_API const char *bpe_build(void);

/* ---- Errors ---- */

struct bpe_error {
    int code;            /* the programs' exit status for this error, see bpe(7); 0: no call has failed yet */
    const char *message; /* one line that includes the fields below; NUL-terminated; UTF-8, except file names */
    uint64_t text;       /* the index of the text in bpe_encode_batch, or BPE_UNKNOWN */
    uint64_t offset;     /* the byte offset in the text or file, or BPE_UNKNOWN */
    uint64_t line;       /* the line number in the file, from 1, or 0 if not known */
};

/* The cause of the last failure in this thread. Borrowed until the next failure in this thread. */
BPE_API const struct bpe_error *bpe_last_error(void);

/* ---- Opening ---- */

/* Opens a tokenizer file or directory in any format that bpe-model(1) reads. pattern (as bpe-encode -p) and special (as
 * bpe-encode -s: an array of "TOKEN" or "TOKEN=ID", ended by NULL) are for files that do not contain them, and an error
 * for other files; both may be NULL. Close the tokenizer with bpe_close. NULL: failed. */
BPE_API bpe_tokenizer *bpe_open(const char *path, const char *pattern, const char *const *special);

/* Opens a tokenizer from the contents of one file; messages call it `name`. Nothing is borrowed. */
BPE_API bpe_tokenizer *bpe_open_memory(const void *contents, size_t len, const char *name, const char *pattern,
                                       const char *const *special);

/* Frees a tokenizer, which no other call may be using. NULL is fine. */
BPE_API void bpe_close(bpe_tokenizer *t);

/* ---- Encoding ---- */

/* How special tokens in the text are encoded. Added tokens that are not special always become their ids. */
enum bpe_special {
    BPE_SPECIAL_TOKEN, /* as their ids */
    BPE_SPECIAL_TEXT,  /* as ordinary text */
    BPE_SPECIAL_ERROR, /* reject them: the error names the token and its offset */
};

/* Writes the ids of a text to ids[0 .. room). Returns the number of all ids; if that is more than `room`, ids holds the
 * first `room` of them. A text of n bytes rarely has more than n ids; normalization can cause more. -1: failed. */
BPE_API ptrdiff_t bpe_encode(const bpe_tokenizer *t, const char *text, size_t len, enum bpe_special special,
                             uint32_t *ids, size_t room);

struct bpe_text {
    const char *p; /* may be NULL if len is 0 */
    size_t len;
};

/* The ids of n texts. Text i has the ids ids[offset[i] .. offset[i + 1]). */
struct bpe_batch {
    size_t n;
    uint32_t *ids;
    uint64_t *offset; /* [n + 1]; the first is 0, the last the number of all ids */
};

/* Encodes n texts with at most this number of threads, including the calling one (0: one for each processor that it may
 * use). Free *out with bpe_batch_free. -1: failed, with the error of the first text that cannot be encoded; *out is
 * empty. If n is 0, nothing is checked. */
BPE_API int bpe_encode_batch(const bpe_tokenizer *t, const struct bpe_text *texts, size_t n, enum bpe_special special,
                             unsigned threads, struct bpe_batch *out);
BPE_API void bpe_batch_free(struct bpe_batch *b); /* an empty batch is fine */

/* ---- Decoding ---- */

/* Decodes n ids to text[0 .. room), without a terminating NUL byte. Returns the number of all bytes; if that is more
 * than `room`, text holds the first `room` of them. skip_special: special tokens are left out. -1: failed. */
BPE_API ptrdiff_t bpe_decode(const bpe_tokenizer *t, const uint32_t *ids, size_t n, int skip_special, char *text,
                             size_t room);

/* ---- Tokens ---- */

/* All ids are smaller than this number; some smaller numbers may have no token. */
BPE_API uint32_t bpe_vocab_size(const bpe_tokenizer *t);

/* The bytes of a token, as bpe_decode writes them inside a text, and its name, as tokenizer.json spells it. Output and
 * return value are as for bpe_decode. */
BPE_API ptrdiff_t bpe_token_bytes(const bpe_tokenizer *t, uint32_t id, char *bytes, size_t room);
BPE_API ptrdiff_t bpe_token_name(const bpe_tokenizer *t, uint32_t id, char *name, size_t room);

/* The id of the token with these bytes, or with this name. -1: no such token; bpe_last_error is unchanged. */
BPE_API int64_t bpe_id_of_bytes(const bpe_tokenizer *t, const char *bytes, size_t len);
BPE_API int64_t bpe_id_of_name(const bpe_tokenizer *t, const char *name, size_t len);

/* An added token: it is matched in the text before any pattern or merge is applied. */
struct bpe_added {
    const char *text; /* borrowed until bpe_close; not NUL-terminated */
    size_t len;
    uint32_t id;
    int special; /* 0: it always becomes its id, and skip_special does not leave it out */
};

/* All added tokens, in order of their ids; *n is their number. Borrowed until bpe_close. */
BPE_API const struct bpe_added *bpe_added_tokens(const bpe_tokenizer *t, size_t *n);

/* The token that ends a text, and the one for padding, as named in the tokenizer's files; otherwise the special token
 * with a usual name, such as "<|endoftext|>" or "<pad>". If no name is usual and there is only one special token, it
 * ends a text, unless it is for padding. -1: no such token. */
BPE_API int64_t bpe_eos_id(const bpe_tokenizer *t);
BPE_API int64_t bpe_pad_id(const bpe_tokenizer *t);

/* Equal for tokenizers with the same tokens, ids and merges. manifest.json contains it, see bpe-shard(1). */
BPE_API uint64_t bpe_fingerprint(const bpe_tokenizer *t);

#ifdef __cplusplus
}
#endif

#endif
