/* model_remarks.c - see model_remarks.h. */
#include "model/model_remarks.h"

#include "model/model_build.h"

#include <string.h>

/* The number of added tokens that are not special; *first: one of them. */
static size_t count_ordinary(const struct model *m, const struct model_special **first)
{
    size_t n = 0;
    for (size_t i = m->n_special; i-- > 0;)
        if (!m->special[i].special) {
            *first = &m->special[i];
            n++;
        }
    return n;
}

static bool names_roles(const struct model_format *f, const char *path)
{
    return f->names_eos || (f->beside_eos && path);
}

bool model_keeps_eos(const struct model *m, const struct model_format *f, const char *path)
{
    return !m->eos || names_roles(f, path) || m->eos == model_assumed_eos(m);
}

bool model_keeps_pad(const struct model *m, const struct model_format *f, const char *path)
{
    return !m->pad || names_roles(f, path) || m->pad == model_assumed_pad(m);
}

void model_remarks(const struct model *m, const struct model_format *f, const char *path, const char *name,
                   model_remark *remark)
{
    const struct model_special *first;
    char show[60];
    size_t n;
    if (f->implied && !(m->pattern && !strcmp(m->pattern, f->implied)))
        remark(name, "%s do not name the pattern, which readers assume to be %s; here it is %s", f->in_directory,
               f->implied, model_pattern_name(m));
    if (f->drops_gaps && path && m->n_regex && !model_pattern(m))
        remark(name, "%s drops text that the regex does not match, which is a pretoken here: ids differ for such text",
               f->name);
    if (f->all_special && path && (n = count_ordinary(m, &first)))
        remark(name,
               "-f %s makes all added tokens special, even those that are not (%zu, such as %s); -f json does not",
               f->name, n, build_show(show, sizeof show, first->p, first->len, false));
    if (f->names_eos && !model_eos(m))
        remark(name, "no special token is known to end a text: the files name neither eos_token nor pad_token");
    if (!model_keeps_eos(m, f, path))
        remark(name, "-f %s does not record that %.*s ends a text; -f hf-dir does", f->name, (int)m->eos->len,
               (const char *)m->eos->p);
    if (!model_keeps_pad(m, f, path))
        remark(name, "-f %s does not record that %.*s pads; -f hf-dir does", f->name, (int)m->pad->len,
               (const char *)m->pad->p);
}
