/* encode_pretoken.c - see encode_pretoken.h. */
#include "encode/encode_pretoken.h"

#include "encode/encode_repeats.h"
#include "encode/prepare.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 64, /* bytes from which encode_long is faster than encode_short */
    /* prepare_merges takes no longer than encoding (number of ids) / (this number) pretokens */
    PREPARE_PART = 4,
};

int pretoken_encoder_init(struct pretoken_encoder *w, const struct model *model, struct err *e)
{
    *w = (struct pretoken_encoder){.words = word_encoder_best()};
    if (model_of_characters(model)) {
        if (!(w->characters = calloc(1, sizeof *w->characters)))
            return err_mem(e, "the characters", sizeof *w->characters);
        if (character_model_init(w->characters, model, e))
            return -1;
        model = &w->characters->bytes;
    }
    if (id_list_reserve(&w->out, SHORT_MAX, e) || merge_lookup_init(&w->merges, model, e))
        return -1;
    return 0;
}

void pretoken_encoder_free(struct pretoken_encoder *w)
{
    id_list_free(&w->out);
    long_encoder_free(&w->heap);
    merge_lookup_free(&w->merges);
    if (w->characters)
        character_model_free(w->characters);
    free(w->characters);
    *w = (struct pretoken_encoder){0};
}

static int prepare_in_time(struct pretoken_encoder *w, size_t n, struct err *e)
{
    const size_t enough = w->merges.model->n_ids / PREPARE_PART, before = w->n_pretokens;
    w->n_pretokens += n;
    return before < enough && w->n_pretokens >= enough ? prepare_merges(&w->merges, e) : 0;
}

int pretoken_encoder_prepare(struct pretoken_encoder *w, bool *fast, struct err *e)
{
    int rc = prepare_merges(&w->merges, e);
    *fast = w->merges.regular != NULL;
    return rc;
}

/* Encodes with the merges of any model. */
static int encode_any(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    w->out.n = 0;
    if (n > SHORT)
        return long_encode(&w->heap, &w->merges, p, n, &w->out, e);
    w->out.n = encode_short(&w->merges, p, n, w->out.id);
    return 0;
}

/* Sets w->out if the whole pretoken is a token, or if it has few repeats. *done: whether it did. */
static int encode_at_once(struct pretoken_encoder *w, const unsigned char *p, size_t n, bool *done, struct err *e)
{
    const struct merge_lookup *m = &w->merges;
    uint32_t whole = merge_lookup_may_be_whole(m, p, n) ? merge_lookup_token(m, p, n) : MODEL_NO_ID;
    *done = whole != MODEL_NO_ID;
    w->out.n = 0;
    if (*done)
        w->out.id[w->out.n++] = whole;
    return !*done && m->regular && n >= REPEATS_LEN_MIN ? encode_repeats(m->regular, p, n, &w->out, done, e) : 0;
}

int pretoken_encode(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e)
{
    bool done;
    if (model_check_bytes(w->merges.model, p, n, e) || prepare_in_time(w, 1, e) || encode_at_once(w, p, n, &done, e) ||
        (!done && encode_any(w, p, n, e)))
        return -1;
    if (!w->characters)
        return 0;
    if (id_list_reserve(&w->out, n - w->out.n, e))
        return -1;
    w->out.n = character_model_expand(w->characters, w->out.id, w->out.n);
    return 0;
}

static void take_out(const struct pretoken_encoder *w, struct word *word)
{
    word->n_ids = (uint32_t)w->out.n;
    memcpy(word->id, w->out.id, w->out.n * sizeof *word->id);
}

int pretoken_encode_some(struct pretoken_encoder *w, struct word *word, size_t n, struct err *e)
{
    struct word *left[WORDS_MAX];
    if (prepare_in_time(w, n, e))
        return -1;
    for (size_t some; n; word += some, n -= some) {
        size_t n_words = 0;
        some = n < WORDS_MAX ? n : WORDS_MAX;
        for (size_t i = 0; i < some; i++) {
            bool done;
            if (model_check_bytes(w->merges.model, word[i].p, word[i].n, e) ||
                encode_at_once(w, word[i].p, word[i].n, &done, e))
                return -1;
            word[i].n_ids = 0;
            if (done)
                take_out(w, &word[i]);
            else if (word[i].n <= WORD_MAX)
                left[n_words++] = &word[i];
        }
        if (w->merges.regular)
            w->words->encode_batch(w->merges.regular, w->merges.room, left, n_words);
        for (size_t i = 0; i < some; i++) {
            if (word[i].n_ids)
                continue;
            if (encode_any(w, word[i].p, word[i].n, e))
                return -1;
            take_out(w, &word[i]);
        }
        for (size_t i = 0; i < some && w->characters; i++)
            word[i].n_ids = (uint32_t)character_model_expand(w->characters, word[i].id, word[i].n_ids);
    }
    return 0;
}
