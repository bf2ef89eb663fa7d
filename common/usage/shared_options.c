/* shared_options.c - see shared_options.h. */
#include "usage/shared_options.h"

#include "base/io/fd.h"
#include "unicode/utf8.h"

#include <string.h>

const char *const shared_options_dtypes[] = {"u16", "u32", NULL}, *const shared_options_merges[] = {"array", "string",
                                                                                                    NULL};

unsigned shared_options_width(enum model_dtype d, unsigned by_vocabulary)
{
    return d == DTYPE_BY_VOCABULARY ? by_vocabulary : d == DTYPE_2_BYTES ? 2 : 4;
}

int shared_options_special(struct option_texts *list, const char *option, struct err *e)
{
    const char *token = list->at[list->n - 1];
    bool cut;
    size_t n = strlen(token);
    if (n == 0 || utf8_valid_len((const unsigned char *)token, n, &cut) != n)
        return err_set(e, EX_USAGE, "%s: a special token must be UTF-8 text, and not empty", option);
    for (size_t i = 0; i + 1 < list->n; i++) {
        if (strcmp(list->at[i], token) == 0) {
            list->n--;
            break;
        }
    }
    return 0;
}

/* Whether token ends with an id, as in `<|pad|>=5`; *id is then `=5`. */
static bool has_id(const char *token, const char **id)
{
    const char *sign = strrchr(token, '=');
    if (!sign || sign == token || !strchr(">]", sign[-1]) || !sign[1] || sign[1 + strspn(sign + 1, "0123456789")])
        return false;
    *id = sign;
    return true;
}

int shared_options_new_special(const struct option_texts *list, const char *option, struct err *e)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *token = list->at[i], *id;
        if (strstr(token, ">,<") || strstr(token, "],["))
            return err_set(e, EX_USAGE, "%s %s: this is one token; give %s once for each token", option, token, option);
        if (has_id(token, &id))
            return err_set(e, EX_USAGE, "%s %s: training assigns the ids; leave out %s", option, token, id);
    }
    return 0;
}

int shared_options_model(const char *model, struct err *e)
{
    return model ? 0 : err_set(e, EX_USAGE, "missing -m MODEL; see --help");
}

int shared_options_stdin(const char *model, char *const *files, int n, const char *what, struct err *e)
{
    bool taken = false;
    for (int i = 0; i < n && fd_is_stdin(model); i++)
        taken |= fd_is_stdin(files[i]);
    return taken ? err_set(e, EX_USAGE,
                           "-m %s: standard input cannot be both the model and %s; name a file for one of them", model,
                           what)
                 : 0;
}
