/* shared_options.c - see shared_options.h. */
#include "usage/shared_options.h"

const char *const shared_options_dtypes[] = {"u16", "u32", NULL}, *const shared_options_merges[] = {"array", "string",
                                                                                                    NULL};

unsigned shared_options_width(enum model_dtype d, unsigned by_vocabulary)
{
    return d == DTYPE_BY_VOCABULARY ? by_vocabulary : d == DTYPE_2_BYTES ? 2 : 4;
}

int shared_options_model(const char *model, struct err *e)
{
    return model ? 0 : err_set(e, EX_USAGE, "by which model? give -m MODEL; see --help");
}
