/* formats.c - see formats.h. */
#include "model/formats.h"

#include <stddef.h>

const char *const *model_format_names(void)
{
    static const char *const names[] = {"json", "gpt2", "tiktoken", "merges", NULL};
    return names;
}
