/* model_test.c - the files of a model, byte by byte. tests/oracle/model_peers.py reads them with other programs. */
#include "base/sys/base64.h"
#include "base/sys/sha256.h"
#include "base/sys/swar.h"
#include "model/assign_ids.h"
#include "model/format_merges.h"
#include "model/formats.h"
#include "pretok/byte_level.h"
#include "random.h"
#include "tap.h"
#include "json/json_write.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define SPECIAL(s)                                                                                                     \
    {                                                                                                                  \
        .text = {(const unsigned char *)(s), sizeof(s) - 1 }                                                           \
    }

/* The 256 bytes in GPT-2's order, in byte-to-unicode form. */
static const char all_characters[] =
    "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
    "¡¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎ"
    "ÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúû"
    "üýþÿ"
    "ĀāĂăĄąĆćĈĉĊċČčĎďĐđĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĦħĨĩĪīĬ"
    "ĭĮįİıĲĳĴĵĶķĸĹĺĻļĽľĿŀŁłŃ";

/* ---- Helpers ---- */

/* One of the files that a model is written to. */
struct file {
    const char *format, *suffix;
};

static const struct file TOKENIZER_JSON = {"json", ""}, VOCAB_JSON = {"gpt2", "/vocab.json"},
                         MERGES_TXT = {"gpt2", "/merges.txt"}, TIKTOKEN = {"tiktoken", ""},
                         SIDECAR = {"tiktoken", ".json"}, MERGES = {"merges", ""};

static const struct model_format *format_named(const char *name)
{
    size_t i = 0;
    while (strcmp(model_format_at(i)->name, name) != 0)
        i++;
    return model_format_at(i);
}

/* Writes the learned merges in a format, and appends this one of its files to *out. */
static int put_file(struct file file, struct buf *out, const struct learned *l, struct err *e)
{
    struct model m;
    const struct model_format *f = format_named(file.format);
    struct model_files files = {.alone = !*file.suffix};
    if (assign_ids(&m, l, f, e))
        return -1;
    int rc = f->write(&files, &m, e);
    for (size_t i = 0; i < files.n && !rc; i++)
        if (!strcmp(files.file[i].suffix, file.suffix))
            rc = buf_put(out, files.file[i].bytes.p, files.file[i].bytes.len, e);
    model_files_free(&files);
    model_free(&m);
    return rc;
}

/* The same as a string, which must be freed; NULL, with *e set, if it cannot be written. */
static char *written(struct file file, const struct learned *l, struct err *e)
{
    struct buf b = {0};
    *e = (struct err){0};
    if (put_file(file, &b, l, e) || buf_put_byte(&b, '\0', e)) {
        buf_free(&b);
        return NULL;
    }
    return (char *)b.p;
}

static void is_text(const char *got, const char *want, const char *name)
{
    if (tap_ok(got && !strcmp(got, want), "%s", name))
        return;
    size_t i = 0;
    while (got && got[i] && got[i] == want[i])
        i++;
    tap_note("they differ at byte %zu", i);
    tap_note("got:  %.200s", got ? got + i : "(an error)");
    tap_note("want: %.200s", want + i);
}

static void writes(struct file file, const struct learned *m, const char *want, const char *name)
{
    struct err e;
    char *got = written(file, m, &e);
    is_text(got, want, name);
    if (!got)
        tap_note("%s", e.msg);
    free(got);
}

static void holds(struct file file, const struct learned *m, const char *part, const char *name)
{
    struct err e;
    char *got = written(file, m, &e);
    if (!tap_ok(got && strstr(got, part), "%s", name))
        tap_note("not found: %s", part);
    free(got);
}

static void fails(struct file file, const struct learned *m, int code, const char *part, const char *name)
{
    struct err e;
    char *got = written(file, m, &e);
    if (!tap_ok(!got && e.code == code && strstr(e.msg, part), "%s", name))
        tap_note("code %d: %s", e.code, e.msg);
    free(got);
}

/* The vocabulary's lines for the 256 bytes. Ids count up from *id; the byte `but` is omitted and takes no id. */
static void put_bytes(struct buf *b, bool pretty, unsigned *id, const char *but)
{
    struct err e;
    for (const char *p = all_characters; *p;) {
        int len = (unsigned char)*p < 0x80 ? 1 : 2;
        if (!but || strncmp(p, but, (size_t)len) || but[len]) {
            const char *quote = *p == '"' || *p == '\\' ? "\\" : "";
            if (*id)
                buf_put_str(b, ",", &e);
            buf_printf(b, &e, pretty ? "\n      \"%s%.*s\": %u" : "\"%s%.*s\":%u", quote, len, p, (*id)++);
        }
        p += len;
    }
}

/* head, a vocabulary with only the 256 bytes, and tail. */
static char *around_bytes(const char *head, bool pretty, const char *tail)
{
    struct buf b = {0};
    struct err e;
    unsigned id = 0;
    buf_put_str(&b, head, &e);
    put_bytes(&b, pretty, &id, NULL);
    buf_put_str(&b, tail, &e);
    buf_put_byte(&b, '\0', &e);
    return (char *)b.p;
}

/* ---- tokenizer.json ---- */

#define HEAD_VERSION "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n"
#define HEAD_BYTE_LEVEL(regex)                                                                                         \
    "  \"normalizer\": null,\n  \"pre_tokenizer\": {\n    \"type\": \"ByteLevel\",\n    \"add_prefix_space\": "        \
    "false,\n"                                                                                                         \
    "    \"trim_offsets\": true,\n    \"use_regex\": " regex "\n  },\n"
#define HEAD_REST                                                                                                      \
    "  \"post_processor\": null,\n  \"decoder\": {\n    \"type\": \"ByteLevel\",\n    \"add_prefix_space\": true,\n"   \
    "    \"trim_offsets\": true,\n    \"use_regex\": true\n  },\n  \"model\": {\n    \"type\": \"BPE\",\n"             \
    "    \"dropout\": null,\n    \"unk_token\": null,\n    \"continuing_subword_prefix\": null,\n"                     \
    "    \"end_of_word_suffix\": null,\n    \"fuse_unk\": false,\n    \"byte_fallback\": false,\n"                     \
    "    \"ignore_merges\": false,\n    \"vocab\": {"

static void test_json(void)
{
    static const struct merge merges[] = {{'h', 'e', 256}, {' ', 't', 257}, {257, 256, 258}, {'"', '\\', 259}};
    static const struct special_token special[] = {SPECIAL("<|end|>")};
    struct learned m = {.pattern = "bytes"};
    char *want = around_bytes(HEAD_VERSION "  \"added_tokens\": [],\n" HEAD_BYTE_LEVEL("false") HEAD_REST, true,
                              "\n    },\n    \"merges\": []\n  }\n}");
    writes(TOKENIZER_JSON, &m, want, "tokenizer.json: no merges, no special tokens, pattern bytes");
    free(want);

    m = (struct learned){.pattern = "gpt2",
                         .regex = pattern_at(PATTERN_GPT2)->regex,
                         .n_regex = 1,
                         .merges = merges,
                         .n_merges = COUNT(merges)};
    m.special = special;
    m.n_special = COUNT(special);
    want = around_bytes(
        HEAD_VERSION "  \"added_tokens\": [\n    {\n      \"id\": 260,\n      \"content\": \"<|end|>\",\n"
                     "      \"single_word\": false,\n      \"lstrip\": false,\n      \"rstrip\": false,\n"
                     "      \"normalized\": false,\n      \"special\": true\n    }\n  ],\n" HEAD_BYTE_LEVEL("true")
                         HEAD_REST,
        true,
        ",\n      \"he\": 256,\n      \"Ġt\": 257,\n      \"Ġthe\": 258,\n"
        "      \"\\\"\\\\\": 259,\n      \"<|end|>\": "
        "260\n"
        "    },\n    \"merges\": [\n      [\n        \"h\",\n        \"e\"\n"
        "      ],\n      [\n        \"Ġ\",\n        "
        "\"t\"\n"
        "      ],\n      [\n        \"Ġt\",\n        \"he\"\n      ],\n      [\n        \"\\\"\",\n        \"\\\\\"\n"
        "      ]\n    ]\n  }\n}");
    writes(TOKENIZER_JSON, &m, want, "tokenizer.json: gpt2, merges, a special token last");
    free(want);

    m.special_first = true;
    holds(TOKENIZER_JSON, &m, "\"vocab\": {\n      \"<|end|>\": 0,\n      \"!\": 1,",
          "special tokens first have the first ids");
    holds(TOKENIZER_JSON, &m, "{\n      \"id\": 0,\n      \"content\": \"<|end|>\"", "  the same ids in added_tokens");
    holds(TOKENIZER_JSON, &m, "\"Ń\": 256,\n      \"he\": 257,", "  all other ids follow");
    m.merges_as_strings = true;
    holds(TOKENIZER_JSON, &m,
          "\"merges\": [\n      \"h e\",\n      \"Ġ t\",\n      \"Ġt he\",\n      \"\\\" \\\\\"\n    ]\n  }\n}",
          "merges as strings");
}

static void test_regex(void)
{
    static const char regex[] = "\\d|\"é\"|\x01";
    struct learned m = {.regex = &(struct str){(const unsigned char *)regex, sizeof regex - 1}, .n_regex = 1};
    const char *want = "  \"pre_tokenizer\": {\n    \"type\": \"Sequence\",\n    \"pretokenizers\": [\n      {\n"
                       "        \"type\": \"Split\",\n        \"pattern\": {\n"
                       "          \"Regex\": \"\\\\d|\\\"é\\\"|\\u0001\"\n        },\n"
                       "        \"behavior\": \"Isolated\",\n        \"invert\": false\n      },\n      {\n"
                       "        \"type\": \"ByteLevel\",\n        \"add_prefix_space\": false,\n"
                       "        \"trim_offsets\": true,\n        \"use_regex\": false\n      }\n    ]\n  },\n";
    holds(TOKENIZER_JSON, &m, want, "a regex is a Split before ByteLevel");
    m.pattern = "cl100k";
    holds(TOKENIZER_JSON, &m, want, "a built-in pattern other than gpt2 is a Split, too");

    static const struct str two[] = {{(const unsigned char *)"a", 1}, {(const unsigned char *)"\\d", 2}};
    struct learned several = {.pattern = "several", .regex = two, .n_regex = 2};
    want = "      {\n        \"type\": \"Split\",\n        \"pattern\": {\n          \"Regex\": \"a\"\n        },\n"
           "        \"behavior\": \"Isolated\",\n        \"invert\": false\n      },\n"
           "      {\n        \"type\": \"Split\",\n        \"pattern\": {\n          \"Regex\": \"\\\\d\"\n        },\n"
           "        \"behavior\": \"Isolated\",\n        \"invert\": false\n      },\n      {\n"
           "        \"type\": \"ByteLevel\",\n";
    holds(TOKENIZER_JSON, &several, want, "several regexes are several Splits");
}

/* ---- Tokens of the same text ---- */

static void test_collisions(void)
{
    /* "the" from "t" and "he"; "ab" twice, from "a" and "b" (258, and again 259), and "abc" from the second "ab". */
    static const struct merge merges[] = {
        {'h', 'e', 256}, {'t', 256, 257}, {'a', 'b', 258}, {'a', 'b', 259}, {259, 'c', 260}};
    static const struct special_token special[] = {SPECIAL("the"), SPECIAL("a"), SPECIAL("<|x|>"), SPECIAL("a"),
                                                   SPECIAL("\xC4\xA0")};
    struct learned m = {.pattern = "bytes", .merges = merges, .n_merges = COUNT(merges)};
    struct buf want = {0};
    struct err e;

    unsigned id = 0;
    buf_put_byte(&want, '{', &e);
    put_bytes(&want, false, &id, NULL);
    buf_put_str(&want, ",\"he\":256,\"the\":257,\"ab\":258,\"abc\":259}", &e);
    buf_put_byte(&want, '\0', &e);
    writes(VOCAB_JSON, &m, (char *)want.p, "vocab.json: a token made twice has one id, and ids have no gap");

    want.len = 0;
    m.special = special;
    m.n_special = COUNT(special) - 1;
    id = 3;
    buf_put_str(&want, "{\"the\":0,\"a\":1,\"<|x|>\":2", &e);
    put_bytes(&want, false, &id, "a");
    buf_put_str(&want, ",\"he\":258,\"ab\":259,\"abc\":260}", &e);
    buf_put_byte(&want, '\0', &e);
    m.special_first = true;
    writes(VOCAB_JSON, &m, (char *)want.p, "special tokens first: an equal token shares the id, and ids have no gap");

    want.len = 0;
    m.special_first = false;
    id = 0;
    buf_put_str(&want, "{", &e);
    put_bytes(&want, false, &id, "a");
    buf_put_str(&want, ",\"he\":255,\"ab\":256,\"abc\":257,\"the\":258,\"a\":259,\"<|x|>\":260}", &e);
    buf_put_byte(&want, '\0', &e);
    writes(VOCAB_JSON, &m, (char *)want.p, "special tokens last: the same");
    buf_free(&want);

    m.n_special = COUNT(special);
    holds(VOCAB_JSON, &m, ",\"a\":258,\"<|x|>\":259,\"Ġ\":260}",
          "a special token may be spelled like a byte above ASCII");
    holds(TOKENIZER_JSON, &m, "\"id\": 260,\n      \"content\": \"Ġ\"", "  it is listed with the same id");
    char *json = written(TOKENIZER_JSON, &m, &e);
    const char *first = strstr(json, "\"content\": \"a\"");
    tap_ok(first && !strstr(first + 1, "\"content\": \"a\""), "a special token given twice is listed once");
    free(json);
    holds(TOKENIZER_JSON, &m, "[\n        \"t\",\n        \"he\"\n      ]", "merges do not change");

    struct model v;
    if (tap_ok(!assign_ids(&v, &m, format_named("json"), &e), "the model is made")) {
        tap_ok(v.merge[1].result == 257 && v.special[0].id == 257,
               "a merge result that equals a special token has its id");
        tap_ok(v.byte_id['a'] == 258 && v.special[1].id == 258,
               "so does a byte that equals a special token given twice");
        tap_ok(v.merge[3].result == v.merge[2].result, "a token made twice has the id of the first");
        model_free(&v);
    }
}

/* ---- Lists of merges ---- */

static void test_merges(void)
{
    static const struct merge merges[] = {{0xC3, 0xA9, 256}, {'\n', '\n', 257}, {256, 257, 258}, {0, 0xFF, 259}};
    struct learned m = {.pattern = "bytes", .merges = merges, .n_merges = COUNT(merges)};
    writes(MERGES_TXT, &m, "#version: 0.2\nÃ ©\nĊ Ċ\nÃ© ĊĊ\nĀ ÿ\n", "merges.txt");
    writes(MERGES, &m, "Ã ©\nĊ Ċ\nÃ© ĊĊ\nĀ ÿ\n", "readable merges: no header");
    m.n_merges = 0;
    writes(MERGES_TXT, &m, "#version: 0.2\n", "merges.txt without merges");
    writes(MERGES, &m, "", "readable merges without merges");

    static const struct merge version[] = {{'#', 'v', 256}, {256, 'e', 257}, {257, 'r', 258}, {258, 's', 259},
                                           {259, 'i', 260}, {260, 'o', 261}, {261, 'n', 262}, {262, 's', 263}};
    m.merges = version;
    m.n_merges = COUNT(version) - 1;
    holds(MERGES_TXT, &m, "\n#versio n\n", "merges.txt may contain the token #version");
    m.n_merges++;
    fails(MERGES_TXT, &m, EX_USAGE, "merge 7 begins with \"#version\"",
          "merges.txt cannot contain a line that begins with #version");
    holds(MERGES, &m, "\n#version s\n", "readable merges can");
    holds(TOKENIZER_JSON, &m, "\"#version\",\n        \"s\"", "tokenizer.json can");
    m.merges_as_strings = true;
    fails(TOKENIZER_JSON, &m, EX_USAGE, "merge 7 begins with \"#version\"",
          "tokenizer.json with merges as strings cannot");
}

/* ---- tiktoken ---- */

static void test_tiktoken(void)
{
    static const struct merge merges[] = {
        {'h', 'e', 256}, {'t', 256, 257}, {'t', 256, 258}, {257, 257, 259}, {0, 0xFF, 260}};
    static const struct special_token special[] = {SPECIAL("a"), SPECIAL("q\"\n"), SPECIAL("a"), SPECIAL("the")};
    struct learned m = {.pattern = "bytes", .merges = merges, .n_merges = COUNT(merges)};
    holds(TIKTOKEN, &m, "IQ== 0\nIg== 1\n", ".tiktoken: the first rank is that of '!'");
    holds(TIKTOKEN, &m, "\nAA== 188\nAQ== 189\n", ".tiktoken: byte 0 is 188");
    holds(TIKTOKEN, &m, "\nrQ== 255\naGU= 256\ndGhl 257\ndGhldGhl 258\nAP8= 259\n",
          ".tiktoken: merges, and a token made twice has its first rank");

    m.special = special;
    m.n_special = COUNT(special);
    struct buf file = {0}, side = {0};
    struct err e;
    char want[1000], sha256[SHA256_HEX];
    tap_ok(!put_file(TIKTOKEN, &file, &m, &e) && file.len > 100 && !memcmp(file.p + file.len - 9, "AP8= 259\n", 9),
           ".tiktoken: without special tokens");
    sha256_hex(sha256, file.p, file.len);
    snprintf(want, sizeof want,
             "{\n  \"pattern\": \"bytes\",\n  \"pat_str\": \"[\\\\s\\\\S]+\",\n  \"special_tokens\": {\n"
             "    \"a\": 260,\n    \"q\\\"\\n\": 261,\n    \"the\": 262\n  },\n  \"explicit_n_vocab\": 263,\n"
             "  \"sha256\": \"%s\"\n}\n",
             sha256);
    tap_ok(!put_file(SIDECAR, &side, &m, &e) && !buf_put_byte(&side, '\0', &e), "the sidecar is written");
    is_text((char *)side.p, want, "sidecar: special tokens follow the ranks; pattern bytes is a regex");

    side.len = 0;
    m = (struct learned){.regex = &(struct str){(const unsigned char *)"a\\d", 3},
                         .n_regex = 1,
                         .merges = merges,
                         .n_merges = COUNT(merges)};
    tap_ok(!put_file(SIDECAR, &side, &m, &e) && !buf_put_byte(&side, '\0', &e), "the sidecar of a regex is written");
    snprintf(want, sizeof want,
             "{\n  \"pattern\": null,\n  \"pat_str\": \"a\\\\d\",\n  \"special_tokens\": {},\n"
             "  \"explicit_n_vocab\": 260,\n  \"sha256\": \"%s\"\n}\n",
             sha256);
    is_text((char *)side.p, want, "sidecar: a regex has no name");

    m.special_first = true;
    holds(TIKTOKEN, &m, "IQ== 0\n", ".tiktoken: special_first has no effect without special tokens");
    m.special = special;
    m.n_special = 1;
    fails(TIKTOKEN, &m, EX_USAGE, "--special-last", ".tiktoken refuses special tokens first");
    e = (struct err){0};
    tap_ok(put_file(SIDECAR, &side, &m, &e) && e.code == EX_USAGE && strstr(e.msg, "--special-last"),
           "the sidecar refuses them, too");
    buf_free(&file);
    buf_free(&side);
}

/* ---- Sizes ---- */

static void test_sizes(void)
{
    enum { DOUBLINGS = 70, BIG = 20 };
    struct merge merges[DOUBLINGS] = {{'x', 'x', 256}};
    for (uint32_t k = 1; k < DOUBLINGS; k++)
        merges[k] = (struct merge){255 + k, 255 + k, 256 + k};
    struct learned m = {.pattern = "bytes", .merges = merges, .n_merges = DOUBLINGS};
    fails(TOKENIZER_JSON, &m, EX_OSERR, "out of memory", "tokens of more bytes than the address space: out of memory");
    fails(TIKTOKEN, &m, EX_OSERR, "out of memory", "the same for .tiktoken");
    m.n_merges = BIG;
    struct err e;
    char *merges_txt = written(MERGES, &m, &e);
    size_t want = ((2U << BIG) - 2) + 2 * BIG;
    tap_ok(merges_txt && strlen(merges_txt) == want, "tokens of a million bytes are written");
    free(merges_txt);

    m.n_merges = 0;
    m.n_special = UINT32_MAX;
    fails(VOCAB_JSON, &m, EX_USAGE, "32-bit", "more tokens than 32-bit ids: refused immediately");
    m.n_special = 0;
    m.n_merges = SIZE_MAX;
    fails(TIKTOKEN, &m, EX_USAGE, "32-bit", "more merges than that: the same");
}

/* ---- The components ---- */

static void test_json_strings(void)
{
    char all[0x81];
    for (unsigned c = 0; c < 0x80; c++)
        all[c] = (char)c;
    struct buf b = {0};
    struct err e;
    struct json_writer w = json_write_over(&b, false, &e);
    json_write_begin(&w, '[');
    json_write_bytes(&w, (const unsigned char *)all, 0x23);
    json_write_bytes(&w, (const unsigned char *)all + 0x5B, 3);
    json_write_bytes(&w, (const unsigned char *)all + 0x7E, 2);
    json_write_str(&w, "/é\xE2\x80\xA8😀");
    json_write_begin(&w, '{');
    json_write_end(&w, '}');
    json_write_uint(&w, UINT64_MAX);
    json_write_bool(&w, true);
    json_write_null(&w);
    json_write_end(&w, ']');
    tap_ok(!json_write_done(&w) && !buf_put_byte(&b, '\0', &e), "JSON is written");
    is_text((char *)b.p,
            "[\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f"
            "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e"
            "\\u001f"
            " !\\\"\",\"[\\\\]\",\"~\x7F\",\"/é\xE2\x80\xA8😀\",{},18446744073709551615,true,null]",
            "strings are escaped as serde_json does");
    buf_free(&b);
}

static void test_base64(void)
{
    /* RFC 4648, section 10; and the last two base64 digits. */
    static const char *const pair[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"\xFB\xFF", "+/8="},
                                          {"\xFF", "/w=="}};
    for (size_t i = 0; i < COUNT(pair); i++) {
        struct buf b = {0};
        struct err e;
        int rc = base64_put(&b, (const unsigned char *)pair[i][0], strlen(pair[i][0]), &e);
        tap_ok(!rc && b.len == strlen(pair[i][1]) && (!b.len || !memcmp(b.p, pair[i][1], b.len)), "base64 \"%s\"",
               pair[i][1]);
        buf_free(&b);
    }
}

static void test_base64_get(void)
{
    static const char *const bad[] = {"Z",    "Zg",       "Zg=",  "Zm9vY", "Zh==", "Zm9=",       "Zm8==",    "====",
                                      "Z===", "Zg==Zg==", "Zm 9", "Zm9\n", "Zm-_", "\xC3\xA9==", "Zm9vZ===", "=Zg="};
    unsigned char to[64], all[48];
    struct buf b = {0};
    struct err e;
    bool good = true;
    for (size_t n = 0; n < sizeof all; n++) {
        for (size_t i = 0; i < n; i++)
            all[i] = (unsigned char)(i * 37 + n * 11);
        b.len = 0;
        base64_put(&b, all, n, &e);
        good &= base64_get(to, b.p, b.len) == n && !memcmp(to, all, n);
    }
    buf_free(&b);
    tap_ok(good, "base64 is decoded to what was encoded");
    for (size_t i = 0; i < COUNT(bad); i++)
        tap_ok(base64_get(to, (const unsigned char *)bad[i], strlen(bad[i])) == SIZE_MAX, "not base64: \"%s\"", bad[i]);
}

/* One character at a time, by the table. */
static size_t plain_get(unsigned char *to, const unsigned char *p, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        size_t at = 0, char_len = p[i] < 0x80 ? 1 : 2;
        unsigned char order[256];
        byte_level_order(order);
        if (i + char_len > n)
            return BYTE_LEVEL_NOT;
        const char *q = all_characters;
        while (*q && strncmp(q, (const char *)p + i, char_len) != 0) {
            q += (unsigned char)*q < 0x80 ? 1 : 2;
            at++;
        }
        if (!*q)
            return BYTE_LEVEL_NOT;
        to[len++] = order[at];
        i += char_len;
    }
    return len;
}

static void test_byte_level(void)
{
    enum { ROUNDS = 20000, MAX = 40 };
    static const unsigned char odd[] = {' ',  0x7F, 0,    '\n', 0xC2, 0xC3, 0xC4, 0xC5,
                                        0xC6, 0xA0, 0xAD, 0x80, 0xBF, 0xE4, 0xFF, 0xC0};
    struct buf b = {0};
    struct err e;
    size_t bad = 0, wrong = 0, in_form = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        unsigned char bytes[MAX], got[2 * MAX + BYTE_LEVEL_PAD], want[2 * MAX + BYTE_LEVEL_PAD];
        size_t n = (size_t)rnd(MAX);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)(rnd(3) ? 'a' + rnd(26) : rnd(256));
        if (rnd(2) && n)
            bytes[0] = ' ';
        b.len = 0;
        byte_level_put(&b, bytes, n, &e);
        size_t len = b.len;
        buf_reserve(&b, BYTE_LEVEL_PAD, &e);
        memset(b.p + len, rnd(2) ? 0 : 'x', BYTE_LEVEL_PAD);
        bad += byte_level_get(got, b.p, len) != n || memcmp(got, bytes, n) != 0;
        if (len) /* in most cases, another character */
            b.p[rnd(len)] = odd[rnd(sizeof odd)];
        size_t plain = plain_get(want, b.p, len);
        in_form += plain != BYTE_LEVEL_NOT;
        wrong += byte_level_get(got, b.p, len) != plain || (plain != BYTE_LEVEL_NOT && memcmp(got, want, plain) != 0);
    }
    buf_free(&b);
    tap_ok(!bad, "characters are decoded to the original bytes");
    tap_ok(!wrong && in_form > ROUNDS / 100 && in_form < ROUNDS / 2, "other characters are refused");
}

static void test_swar(void)
{
    bool good = true;
    for (size_t round = 0; round < 100000; round++) {
        unsigned char p[8], c = (unsigned char)rnd(128);
        for (size_t i = 0; i < 8; i++)
            p[i] = (unsigned char)(rnd(2) ? rnd(256) : (uint64_t)c + rnd(3) - 1);
        uint64_t x = swar_load(p), equal = swar_equal(x, c), less = swar_less_or_equal(x, c);
        for (size_t i = 0; i < 8; i++) {
            unsigned char e[8], l[8];
            memcpy(e, &equal, 8);
            memcpy(l, &less, 8);
            good &= e[i] == (p[i] == c ? 0x80 : 0) && l[i] == (p[i] <= c ? 0x80 : 0);
        }
        for (size_t i = 0; equal && i < swar_first(equal); i++)
            good &= p[i] != c;
        good &= !equal || p[swar_first(equal)] == c;
    }
    tap_ok(good, "eight bytes at a time: those equal, those less or equal, and the first of them");
}

static void test_sha256(void)
{
    char hex[SHA256_HEX]; /* FIPS 180-4: the empty string, and "abc" */
    sha256_hex(hex, NULL, 0);
    tap_ok(!strcmp(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), "SHA-256 of nothing");
    sha256_hex(hex, "abc", 3);
    tap_ok(!strcmp(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "SHA-256 of abc");
}

static void test_appends(void)
{
    struct buf b = {0};
    struct err e;
    struct model m;
    static const struct merge merges[] = {{'a', 'b', 256}};
    struct learned l = {.pattern = "gpt2", .merges = merges, .n_merges = 1};
    tap_ok(!assign_ids(&m, &l, format_named("gpt2"), &e) && !buf_put_str(&b, "before ", &e) &&
               !merges_put_lines(&b, &m, &e) && b.len == 11 && !memcmp(b.p, "before a b\n", 11),
           "lines are appended to the buffer's contents");
    model_free(&m);
    buf_free(&b);
}

int main(void)
{
    random_seed(20240501);
    test_json();
    test_regex();
    test_collisions();
    test_merges();
    test_tiktoken();
    test_sizes();
    test_json_strings();
    test_base64();
    test_base64_get();
    test_byte_level();
    test_swar();
    test_sha256();
    test_appends();
    return tap_done();
}
