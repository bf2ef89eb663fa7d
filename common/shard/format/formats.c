/* formats.c - see formats.h. */
#include "shard/format/formats.h"

#include <string.h>

const struct shard_format *const shard_formats[] = {&format_npy,       &format_raw,   &format_llmc, &format_megatron,
                                                    &format_datatrove, &format_dolma, &format_mds,  NULL};

enum { N_FORMATS = sizeof shard_formats / sizeof *shard_formats };

const struct shard_format *shard_format_find(const char *name)
{
    const struct shard_format *const *f = shard_formats;
    while (*f && strcmp((*f)->name, name) != 0)
        f++;
    return *f;
}

const char *const *shard_format_names(void)
{
    static const char *names[N_FORMATS];
    for (size_t i = 0; shard_formats[i]; i++)
        names[i] = shard_formats[i]->name;
    return names;
}
