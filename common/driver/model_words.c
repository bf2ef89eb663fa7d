/* model_words.c - see model_words.h. */
#include "driver/model_words.h"

#include <stdio.h>
#include <string.h>

enum whose { CHUNK, ENCODE, BOTH, TOKEN };

static enum whose owner_of(const char *word)
{
    static const char *const both[] = {"model", "pattern", NULL};
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    if (strcmp(name, "special-token") == 0)
        return TOKEN;
    if (str_in(name, both))
        return BOTH;
    return options_find(chunk_usage.options, name) ? CHUNK : ENCODE;
}

/* The length of --special-token=TEXT, if =ID follows. */
static size_t without_id(const char *word)
{
    const char *text = strchr(word, '=') + 1, *id = strrchr(text, '=');
    bool has_id = id && id > text && id[1] && strspn(id + 1, "0123456789") == strlen(id + 1);
    return has_id ? (size_t)(id - word) : strlen(word);
}

int model_words_chunk(struct option_words *to, const struct option_words *from, bool as_text, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < from->n && rc == 0; i++) {
        const char *word = from->at[i];
        enum whose owner = owner_of(word);
        if (owner == CHUNK || owner == BOTH)
            rc = option_words_add(to, e, "%s", word);
        else if (owner == TOKEN && !as_text)
            rc = option_words_add(to, e, "%.*s", (int)without_id(word), word);
    }
    if (rc || (as_text && option_words_add(to, e, "--no-special")))
        return -1;
    return 0;
}

int model_words_encode(struct option_words *to, const struct option_words *from, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < from->n && rc == 0; i++)
        rc = owner_of(from->at[i]) == CHUNK ? 0 : option_words_add(to, e, "%s", from->at[i]);
    return rc;
}

const char *model_words_first_of_encode(const struct option_words *from)
{
    for (size_t i = 0; i < from->n; i++) {
        if (owner_of(from->at[i]) == ENCODE)
            return from->at[i];
    }
    return NULL;
}

int model_words_init(const struct merge_options *merge, struct chunk_options *chunk, struct option_words *to,
                     struct err *e)
{
    if (!merge->init)
        return 0;
    chunk->rules.model = merge->init;
    return option_words_add(to, e, "--model=%s", chunk->rules.model);
}
