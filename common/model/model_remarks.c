/* model_remarks.c - see model_remarks.h. */
#include "model/model_remarks.h"

#include <string.h>

void model_remarks(const struct model *m, const struct model_format *f, const char *name, model_remark *remark)
{
    struct model without = *m;
    without.eos = NULL;
    if (f->implied && !(m->pattern && !strcmp(m->pattern, f->implied)))
        remark(name, "%s do not say the pattern, which readers take to be %s; here it is %s", f->in_directory,
               f->implied, model_pattern_name(m));
    if (f->names_eos && !model_eos(m))
        remark(name, "no special token is known to end a text: the files name neither eos_token nor pad_token");
    if (!f->names_eos && m->eos && m->eos != model_eos(&without))
        remark(name, "-f %s does not say that %.*s ends a text; -f hf-dir does", f->name, (int)m->eos->len,
               (const char *)m->eos->p);
}
