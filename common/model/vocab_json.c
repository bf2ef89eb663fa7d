/* vocab_json.c - see vocab_json.h. */
#include "model/vocab_json.h"

#include "model/spelling.h"

#include <string.h>

int vocab_json_read(struct json_reader *r, struct build *b)
{
    if (json_read_object(r))
        return -1;
    for (;;) {
        struct str key;
        uint64_t id;
        int have_id = json_read_try_member(r, &key, &id), more = have_id ? 1 : json_read_raw_key(r, &key);
        if (more <= 0) {
            b->vocab_known = true;
            if (more || build_tokens_end(b))
                return -1;
            return 0;
        }
        unsigned char *p = model_room(b->m, key.len + BYTE_LEVEL_PAD, b->e);
        if (!p)
            return -1;
        size_t len = spelling_get(b->m->spelling, p, key.p, key.len);
        bool vocab = len != BYTE_LEVEL_NOT && len, any = b->m->spelling != SPELLING_BYTE_LEVEL;
        if ((any || !vocab) && json_read_utf8(r, key))
            return -1;
        if (!vocab) {
            memcpy(p, key.p, key.len);
            len = key.len;
        }
        model_keep(b->m, len);
        if ((!have_id && json_read_uint(r, &id)) || build_token(b, p, len, vocab, id))
            return -1;
    }
}

int vocab_json_key(struct buf *key, const struct model *m, uint32_t id, struct err *e)
{
    const struct model_token *t = &m->token[id];
    const struct model_special *s = t->vocab ? NULL : model_special(m, id);
    key->len = 0;
    if (t->vocab)
        return spelling_put(m->spelling, key, t->p, t->len, e);
    return s ? buf_put(key, s->p, s->len, e) : buf_put(key, t->p, t->len, e);
}

void vocab_json_write(struct json_writer *w, const struct model *m, bool all)
{
    struct buf key = {0};
    json_write_begin(w, '{');
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        const struct model_special *s = t->p && !t->vocab ? model_special(m, id) : NULL;
        if (!t->p || (s && !s->keyed && !all))
            continue;
        if (vocab_json_key(&key, m, id, w->e)) {
            w->failed = true;
            break;
        }
        json_write_key_bytes(w, key.p, key.len);
        json_write_uint(w, id);
    }
    json_write_end(w, '}');
    buf_free(&key);
}
