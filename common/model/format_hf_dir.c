/* format_hf_dir.c - the directory that AutoTokenizer.from_pretrained of Hugging Face transformers loads:
 * tokenizer.json, with tokenizer_config.json and special_tokens_map.json, which name the tokens that end a text and
 * that pad. Only written; to read such a directory, format_hf_json.c reads its tokenizer.json.
 *
 * The other special tokens and their flags are in tokenizer.json and are not repeated.
 */
#include "model/format_hf_internal.h"
#include "model/model_convert.h"
#include "json/json_write.h"

static void put_roles(struct json_writer *w, const struct model *m)
{
    const struct model_special *eos = model_eos(m), *own = model_pad(m), *pad = own ? own : eos;
    if (eos) {
        json_write_key(w, "eos_token");
        json_write_bytes(w, eos->p, eos->len);
    }
    if (pad) {
        json_write_key(w, "pad_token");
        json_write_bytes(w, pad->p, pad->len);
    }
}

/* The same keys in the same order as transformers saves them. */
static int put_config(struct buf *out, const struct model *m, bool whole, struct err *e)
{
    struct json_writer w = json_write_over(out, true, e);
    json_write_begin(&w, '{');
    if (whole) {
        json_write_key(&w, "clean_up_tokenization_spaces"); /* true, the former default, changes decoded text */
        json_write_bool(&w, false);
    }
    put_roles(&w, m);
    if (whole) {
        json_write_key(&w, "tokenizer_class");
        json_write_str(&w, "PreTrainedTokenizerFast");
    }
    json_write_end(&w, '}');
    return json_write_done(&w) || buf_put_byte(out, '\n', e) ? -1 : 0;
}

/* tokenizer.json is put in place last: without it the directory cannot be loaded. */
static int write_hf_dir(struct model_files *to, const struct model *m, struct err *e)
{
    if (put_config(model_files_add(to, "/special_tokens_map.json"), m, false, e) ||
        put_config(model_files_add(to, "/tokenizer_config.json"), m, true, e))
        return -1;
    return hf_write_tokenizer(model_files_add(to, "/tokenizer.json"), m, e);
}

const struct model_format format_hf_dir = {
    .name = "hf-dir",
    .dialect = PATTERN_ONIGURUMA,
    .check = convert_to_merges,
    .write = write_hf_dir,
    .is_directory = true,
    .names_eos = true,
    .has_merge_forms = true,
    .has_characters = true,
    .has_ids = true,
    .special_first = true,
};
