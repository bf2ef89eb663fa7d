/* formats.c - see formats.h. */
#include "model/formats.h"

#define MODEL_FORMAT_ROW(name) &format_##name,
static const struct model_format *const formats[] = {MODEL_FORMATS(MODEL_FORMAT_ROW)};

enum { N_FORMATS = sizeof formats / sizeof *formats };

const struct model_format *model_format_at(size_t i)
{
    return i < N_FORMATS ? formats[i] : NULL;
}

int model_format_check(const struct model_format *f, struct model *m, struct err *e)
{
    if (model_of_characters(m) && !f->has_characters)
        return err_set(e, EX_USAGE,
                       "-f %s is for models of bytes, and this one starts from characters (SentencePiece): use -f json",
                       f->name);
    if (m->n_super && !f->has_superwords)
        return err_set(
            e, EX_USAGE,
            "-f %s cannot express that %zu merges apply only to whole pretokens (superwords), so it would also "
            "join parts of words: use -f boundless",
            f->name, m->n_super);
    return f->check(m, e);
}

const char *const *model_format_names(void)
{
    static const char *names[N_FORMATS + 1];
    for (size_t i = 0; i < N_FORMATS && formats[i]->write; i++)
        names[i] = formats[i]->name;
    return names;
}
