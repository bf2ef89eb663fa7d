/* format_merges.c - a line for each merge, for people to read. It has neither ids nor the pattern, so it cannot be read
 * back.
 */
#include "model/format_merges.h"

#include "model/formats.h"
#include "model/model_convert.h"
#include "pretok/byte_level.h"

#include <string.h>

bool merges_is_header(struct str line)
{
    const size_t n = sizeof MERGES_HEADER - 1;
    return line.len >= n && !memcmp(line.p, MERGES_HEADER, n);
}

static int put_line(struct buf *out, const struct model *m, const struct merge *g, struct err *e)
{
    const struct model_token *left = &m->token[g->left], *right = &m->token[g->right];
    if (byte_level_put(out, left->p, left->len, e) || buf_put_byte(out, ' ', e) ||
        byte_level_put(out, right->p, right->len, e) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

int merges_put_lines(struct buf *out, const struct model *m, struct err *e)
{
    for (size_t k = 0; k < m->n_merges; k++) {
        if (put_line(out, m, &m->merge[k], e))
            return -1;
    }
    return 0;
}

static int write_lines(struct model_files *to, const struct model *m, struct err *e)
{
    return merges_put_lines(model_files_add(to, ""), m, e);
}

const struct model_format format_merges = {.name = "merges", .check = convert_to_merges, .write = write_lines};
