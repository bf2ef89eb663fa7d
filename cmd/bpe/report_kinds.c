/* report_kinds.c - see report_kinds.h. */
#include "bpe/report_kinds.h"

#include "unicode/uclass.h"
#include "unicode/utf8.h"

const char *report_kind_name(enum report_kind kind)
{
    static const char *const names[KIND_SCRIPT] = {"parts of characters", "white space", "numbers", "punctuation"};
    return kind < KIND_SCRIPT ? names[kind] : script_names[kind - KIND_SCRIPT + 1];
}

enum report_kind report_kind_of(const struct scripts *s, struct str text)
{
    bool cut, number = false, space = text.len > 0;
    if (utf8_valid_len(text.p, text.len, &cut) != text.len)
        return KIND_PARTS;
    for (size_t i = 0, len; i < text.len; i += len) {
        const uint32_t c = utf8_char(text.p + i, &len);
        const enum uclass class = uclass_of(c);
        const unsigned script = class == UCLASS_SPACE || class == UCLASS_NUMBER ? SCRIPT_NONE : scripts_of(s, c);
        if (script != SCRIPT_NONE)
            return (enum report_kind)(KIND_SCRIPT + script - 1);
        number = number || class == UCLASS_NUMBER;
        space = space && class == UCLASS_SPACE;
    }
    return number ? KIND_NUMBER : space ? KIND_SPACE : KIND_PUNCTUATION;
}
