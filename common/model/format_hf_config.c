/* format_hf_config.c - see format_hf_config.h. */
#include "model/format_hf_config.h"

#include "base/io/fd.h"
#include "base/sys/str.h"
#include "model/model_file.h"
#include "json/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const role_names[] = {"bos_token", "eos_token", "unk_token",  "sep_token",
                                         "pad_token", "cls_token", "mask_token", NULL};

#define END "<|endoftext|>"
static const struct hf_class classes[] = {
    {"GPT2Tokenizer", PATTERN_GPT2, NORMALIZER_NONE, {[HF_BOS] = END, [HF_EOS] = END, [HF_UNK] = END}},
    {"Qwen2Tokenizer", PATTERN_QWEN2, NORMALIZER_NFC, {[HF_EOS] = END, [HF_UNK] = END, [HF_PAD] = END}},
};

/* ---- Reading ---- */

/* The file being read. */
struct file {
    struct hf_config *c;
    struct json_reader r;
    struct build *b;
    bool is_config;                /* tokenizer_config.json, not special_tokens_map.json */
    struct hf_word key;            /* the key whose value is being read, for messages */
    struct hf_tokens extra, older; /* extra_special_tokens, and its older name additional_special_tokens */
    struct hf_tokens members;      /* the members of either, if it is an object */
    bool has_older;
};

static int check_text(struct file *f, const struct hf_added *a)
{
    return a->len ? 0 : json_read_fail(&f->r, "%s: a token without text; null means none", f->key.s);
}

/* Reads a special token: a string, an object with flags, or null (p is NULL then). */
static int read_token(struct file *f, struct hf_added *a)
{
    int null = json_read_null(&f->r), c = null ? 0 : json_read_peek(&f->r);
    *a = (struct hf_added){.id = HF_NEXT_ID};
    if (null || c < 0)
        return null < 0 || c < 0 ? -1 : 0;
    if ((c == '{' ? hf_read_added(&f->r, f->b, a, true) : hf_read_content(&f->r, f->b, a)) || check_text(f, a))
        return -1;
    a->special = true;
    return 0;
}

static struct hf_added *find_key(const struct hf_tokens *list, struct str key)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_equal(list->p[i].key, key))
            return &list->p[i];
    return NULL;
}

/* As in a Python dict: a token with the same role is replaced in its position. */
static int put_named(struct hf_tokens *to, struct hf_added a, struct err *e)
{
    struct hf_added *there = find_key(to, a.key);
    if (!there)
        return hf_tokens_add(to, a, e);
    *there = a;
    return 0;
}

static int put_all(struct hf_tokens *to, const struct hf_tokens *from, struct err *e)
{
    for (size_t i = 0; i < from->n; i++)
        if (put_named(to, from->p[i], e))
            return -1;
    return 0;
}

static int read_named(struct file *f, struct str key, struct hf_tokens *to)
{
    struct hf_added a;
    const struct str name = {build_copy(f->b, key.p, key.len), key.len};
    if (!name.p || read_token(f, &a))
        return -1;
    a.key = name;
    return put_named(to, a, f->r.e);
}

static int add_token(struct file *f, struct hf_tokens *to)
{
    struct hf_added a;
    if (read_token(f, &a))
        return -1;
    return a.p ? hf_tokens_add(to, a, f->r.e) : 0;
}

/* Reads a list of tokens, an object of tokens by role name, or null. */
static int read_more(struct file *f, struct hf_tokens *to)
{
    struct str key;
    int null = json_read_null(&f->r), c = null ? 0 : json_read_peek(&f->r), more;
    if (null || c < 0)
        return null < 0 || c < 0 ? -1 : 0;
    if (c == '{' ? json_read_object(&f->r) : json_read_array(&f->r))
        return -1;
    while ((more = c == '{' ? json_read_key(&f->r, &key) : json_read_item(&f->r)) > 0) {
        if (c == '{' ? read_named(f, key, &f->members) : add_token(f, to))
            return -1;
    }
    return more;
}

static int compare_id(const void *a, const void *b)
{
    uint64_t x = ((const struct hf_added *)a)->id, y = ((const struct hf_added *)b)->id;
    return (x > y) - (x < y);
}

/* Reads added_tokens_decoder: tokens by id. */
static int read_decoder(struct file *f)
{
    struct str key;
    int more;
    f->c->has_decoder = true;
    if (json_read_object(&f->r))
        return -1;
    while ((more = json_read_key(&f->r, &key)) > 0) {
        struct hf_added a;
        uint64_t id = 0;
        for (size_t i = 0; i < key.len; i++) {
            if (key.p[i] < '0' || key.p[i] > '9' || key.len > 10)
                return json_read_fail(&f->r, "added_tokens_decoder: a key is not an id");
            id = 10 * id + (key.p[i] - '0');
        }
        if (hf_read_added(&f->r, f->b, &a, true) || check_text(f, &a))
            return -1;
        a.id = id;
        if (hf_tokens_add(&f->c->with_id, a, f->r.e))
            return -1;
    }
    return more;
}

static int read_class(struct file *f)
{
    struct hf_word *w = &f->c->class;
    if (hf_read_word(&f->r, w))
        return -1;
    size_t n = strlen(w->s);
    if (n > 4 && !strcmp(w->s + n - 4, "Fast"))
        w->s[n - 4] = '\0';
    return 0;
}

/* With true, special tokens in text are treated as text, as with --special=text; a model cannot express that. */
static int check_split(struct file *f)
{
    bool split;
    if (json_read_bool(&f->r, &split))
        return -1;
    return split
               ? json_read_fail(&f->r, "split_special_tokens makes special tokens text, which is not supported: set it "
                                       "to false, and encode with --special=text")
               : 0;
}

static bool ends_with(struct str s, const char *end)
{
    size_t n = strlen(end);
    return s.len >= n && !memcmp(s.p + s.len - n, end, n);
}

static int read_value(struct file *f, struct str key)
{
    snprintf(f->key.s, sizeof f->key.s, "%.*s", (int)(key.len < 60 ? key.len : 60), (const char *)key.p);
    for (int role = 0; role < HF_ROLES; role++) {
        if (str_equal(key, str_of(role_names[role]))) {
            f->c->said[role] = true;
            return read_token(f, &f->c->role[role]);
        }
    }
    if (str_equal(key, str_of("extra_special_tokens")))
        return read_more(f, &f->extra);
    if (str_equal(key, str_of("additional_special_tokens"))) {
        f->has_older = true;
        return read_more(f, &f->older);
    }
    if (f->is_config && str_equal(key, str_of("added_tokens_decoder")))
        return read_decoder(f);
    if (f->is_config && str_equal(key, str_of("tokenizer_class")))
        return read_class(f);
    if (f->is_config && str_equal(key, str_of("add_prefix_space")))
        return hf_read_flag(&f->r, &f->c->add_prefix_space) < 0 ? -1 : 0;
    if (f->is_config && str_equal(key, str_of("split_special_tokens")))
        return check_split(f);
    int c = json_read_peek(&f->r);
    bool is_role = ends_with(key, "_token") && (c == '"' || c == '{' || c == 'n');
    return is_role ? read_named(f, key, f->is_config && c == '"' ? &f->c->fixed : &f->c->named) : json_read_skip(&f->r);
}

/* Uses extra_special_tokens of all files together, unless it is empty; else additional_special_tokens of the first file
 * that has it. */
static int take_more(struct file *f)
{
    struct hf_config *c = f->c;
    const struct hf_tokens *from = f->extra.n ? &f->extra : !c->has_more && f->has_older ? &f->older : NULL;
    for (size_t i = 0; from && i < from->n; i++) {
        if (hf_tokens_add(&c->more, from->p[i], f->r.e))
            return -1;
    }
    c->has_more = c->has_more || from;
    return put_all(&c->fixed, &f->members, f->r.e);
}

static int read_members(struct file *f)
{
    struct str key;
    int more = json_read_object(&f->r) ? -1 : 1;
    while (more > 0 && (more = json_read_key(&f->r, &key)) > 0) {
        if (read_value(f, key))
            return -1;
    }
    return more || take_more(f) ? -1 : 0;
}

static bool is_same(const struct hf_added *a, const struct hf_added *b)
{
    return a->len == b->len && !memcmp(a->p, b->p, a->len);
}

static bool is_in(const struct hf_added *a, const struct hf_tokens *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (is_same(a, &list->p[i]))
            return true;
    return false;
}

static bool has_role(const struct hf_config *c, const struct hf_added *a)
{
    for (int role = 0; role < HF_ROLES; role++)
        if (c->role[role].p && is_same(a, &c->role[role]))
            return true;
    return false;
}

/* Reads added_tokens.json: ids by token. Only tokens named in the other files are special. */
static int read_ids(struct file *f)
{
    struct str key;
    int more = json_read_object(&f->r) ? -1 : 1;
    while (more > 0 && (more = json_read_key(&f->r, &key)) > 0) {
        struct hf_added a = {.p = build_copy(f->b, key.p, key.len), .len = key.len};
        if (!a.p || json_read_uint(&f->r, &a.id))
            return -1;
        if (!a.len)
            return json_read_fail(&f->r, "an empty token");
        a.special = has_role(f->c, &a) || is_in(&a, &f->c->more);
        a.normalized = !a.special;
        if (hf_tokens_add(&f->c->with_id, a, f->r.e))
            return -1;
    }
    return more;
}

/* Reads a file, if it exists. */
static int read_file(struct hf_config *c, struct build *b, const struct model_source *from, const char *name,
                     int (*read)(struct file *f), bool is_config)
{
    struct file f = {.c = c, .b = b, .is_config = is_config};
    char *path = model_file_join(from->path, from->is_directory, name, b->e);
    int rc = path ? 0 : -1;
    if (path && !access(path, F_OK)) {
        int fd = fd_open_input(path, b->e);
        c->found = true;
        rc = fd < 0 || model_file_json(&f.r, fd, path, b->e) ? -1 : 0;
        if (!rc)
            rc = read(&f) || json_read_end(&f.r) ? -1 : 0;
        json_read_free(&f.r);
        free(f.extra.p);
        free(f.older.p);
        free(f.members.p);
        if (fd >= 0)
            close(fd);
    }
    free(path);
    return rc;
}

static int take_class(struct hf_config *c, struct build *b)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(classes[i].name, c->class.s))
            c->known = &classes[i];
    for (int role = 0; c->known && role < HF_ROLES; role++) {
        const char *text = c->said[role] ? NULL : c->known->role[role];
        if (!text)
            continue;
        c->role[role] = (struct hf_added){
            .p = build_copy(b, text, strlen(text)), .len = strlen(text), .id = HF_NEXT_ID, .special = true};
        if (!c->role[role].p)
            return -1;
    }
    return 0;
}

int hf_config_read(struct hf_config *c, struct build *b, const struct model_source *from)
{
    *c = (struct hf_config){.name = model_file_join(from->path, from->is_directory, "tokenizer_config.json", b->e)};
    if (!c->name || read_file(c, b, from, "tokenizer_config.json", read_members, true))
        return -1;
    if (!c->has_decoder && (read_file(c, b, from, "special_tokens_map.json", read_members, false) ||
                            read_file(c, b, from, "added_tokens.json", read_ids, false)))
        return -1;
    if (put_all(&c->named, &c->fixed, b->e) || take_class(c, b))
        return -1;
    if (c->with_id.n)
        qsort(c->with_id.p, c->with_id.n, sizeof *c->with_id.p, compare_id);
    return 0;
}

void hf_config_free(struct hf_config *c)
{
    free(c->name);
    free(c->with_id.p);
    free(c->named.p);
    free(c->fixed.p);
    free(c->more.p);
}

/* ---- Use ---- */

static int add_once(struct hf_tokens *to, const struct hf_added *a, struct err *e)
{
    return !a->p || is_in(a, to) ? 0 : hf_tokens_add(to, *a, e);
}

int hf_config_tokens(const struct hf_config *c, struct hf_tokens *to, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < c->with_id.n && !rc; i++) {
        struct hf_added a = c->with_id.p[i];
        a.special = a.special || has_role(c, &a) || is_in(&a, &c->named) || is_in(&a, &c->more);
        rc = hf_tokens_add(to, a, e);
    }
    for (int role = 0; role < HF_ROLES && !rc; role++)
        rc = add_once(to, &c->role[role], e);
    for (size_t i = 0; i < c->named.n && !rc; i++)
        rc = add_once(to, &c->named.p[i], e);
    for (size_t i = 0; i < c->more.n && !rc; i++)
        rc = add_once(to, &c->more.p[i], e);
    return rc;
}

static int find_role(const struct hf_config *c, const struct model *m, enum hf_role role,
                     const struct model_special **found, struct err *e)
{
    const struct hf_added *a = &c->role[role];
    char show[60];
    *found = NULL;
    for (size_t i = 0; a->p && i < m->n_special && !*found; i++)
        if (m->special[i].len == a->len && !memcmp(m->special[i].p, a->p, a->len))
            *found = &m->special[i];
    return !a->p || *found || !c->said[role]
               ? 0
               : err_at(e, EX_DATAERR, c->name, ERR_NO_OFFSET,
                        "%s \"%s\" is not a special token of the model: correct it, or name the model's file itself",
                        role_names[role], build_show(show, sizeof show, a->p, a->len, false));
}

int hf_config_roles(const struct hf_config *c, struct model *m, struct err *e)
{
    return find_role(c, m, HF_EOS, &m->eos, e) || find_role(c, m, HF_PAD, &m->pad, e) ? -1 : 0;
}
