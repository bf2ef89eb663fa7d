/* model_text.c - see model_text.h. */
#include "model/model_text.h"

int model_put_text(struct buf *out, const void *text, size_t len, struct err *e)
{
    const unsigned char *p = text;
    int rc = 0;
    for (size_t i = 0; i < len && !rc; i++)
        rc = p[i] < 0x20 || p[i] == 0x7F ? buf_printf(out, e, "\\x%02X", p[i]) : buf_put_byte(out, p[i], e);
    return rc;
}

static int put_split(struct buf *out, const struct model *m, bool regexes, struct err *e)
{
    if (buf_put_str(out, "pattern: ", e) || buf_put_str(out, model_pattern_name(m), e) || buf_put_byte(out, '\n', e))
        return -1;
    for (size_t i = 0; i < m->n_regex && regexes; i++) {
        if (buf_put_str(out, "regex: ", e) || model_put_text(out, m->regex[i].p, m->regex[i].len, e) ||
            buf_put_byte(out, '\n', e) ||
            (m->split[i] && buf_printf(out, e, "split: %s%s\n", split_names[m->split[i] & SPLIT_MASK],
                                       m->split[i] & SPLIT_BYTE_LEVEL ? ", byte-level" : "")))
            return -1;
    }
    if (m->normalizer && buf_printf(out, e, "normalizer: %s\n", normalizer_names[m->normalizer]))
        return -1;
    if (m->prefix.len && (buf_put_str(out, "prefix: ", e) || model_put_text(out, m->prefix.p, m->prefix.len, e) ||
                          buf_put_byte(out, '\n', e)))
        return -1;
    return 0;
}

int model_put_flags(struct buf *out, const struct model_special *s, struct err *e)
{
    if (!s->flags && s->special)
        return 0;
    int rc = buf_printf(out, e, "flags: %lu", (unsigned long)s->id);
    for (unsigned k = 0; k < SPECIAL_N_FLAGS && rc == 0; k++)
        rc = s->flags >> k & 1 ? buf_printf(out, e, " %s", special_flag_name[k]) : 0;
    return rc || buf_put_str(out, s->special ? "\n" : " not-special\n", e) ? -1 : 0;
}

int model_put_special(struct buf *out, const struct model *m, struct err *e)
{
    if (buf_printf(out, e, "special-tokens: %zu\n", m->n_special))
        return -1;
    for (size_t i = 0; i < m->n_special; i++) {
        if (buf_printf(out, e, "special: %lu ", (unsigned long)m->special[i].id) ||
            model_put_text(out, m->special[i].p, m->special[i].len, e) || buf_put_byte(out, '\n', e) ||
            model_put_flags(out, &m->special[i], e))
            return -1;
    }
    return 0;
}

int model_put_role(struct buf *out, const char *role, const struct model_special *s, struct err *e)
{
    return s && (buf_printf(out, e, "%s: %lu ", role, (unsigned long)s->id) || model_put_text(out, s->p, s->len, e) ||
                 buf_put_byte(out, '\n', e))
               ? -1
               : 0;
}

/* How a model of characters differs from one of bytes. */
static int put_characters(struct buf *out, const struct model *m, struct err *e)
{
    const struct model_unknown *u = &m->unknown;
    if (!model_of_characters(m))
        return 0;
    if (buf_put_str(out, "units: characters\nunknown: ", e))
        return -1;
    int rc = u->bytes ? buf_put_str(out, "bytes", e) : model_put_text(out, m->token[u->id].p, m->token[u->id].len, e);
    if (rc || buf_put_str(out, !u->bytes && u->fuse ? " fused\n" : "\n", e))
        return -1;
    if (m->metaspace.on &&
        buf_printf(out, e, "metaspace: %s%s\n", m->prefix.len ? prefix_place_names[m->metaspace.place] : "never",
                   m->metaspace.split ? " split" : ""))
        return -1;
    return 0;
}

int model_put_rules(struct buf *out, const struct model *m, bool regexes, struct err *e)
{
    return put_split(out, m, regexes, e) || put_characters(out, m, e) ? -1 : 0;
}
