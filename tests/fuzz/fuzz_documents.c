/* fuzz_documents.c - the documents in a text, in each of the formats in `forms`. The first byte of the input selects
 * the format and how the rest is cut into windows and pieces; the documents must be the same as in one window. Also
 * calls the functions that look at a text's first bytes. */
#include "base/sys/buf.h"
#include "fuzz.h"
#include "input/cut.h"
#include "input/file_signature.h"
#include "input/format_guess.h"
#include "input/reading.h"

#include <string.h>

struct documents {
    struct buf text; /* each document, followed by a separator line */
    unsigned step;   /* if more text follows, leave n % step bytes of a window unused; 0: none */
};

static void must(int bad)
{
    if (bad)
        abort();
}

/* A document_fn. */
static ptrdiff_t take(void *ctx, const unsigned char *p, size_t n, enum window_end end, struct err *e)
{
    struct documents *d = ctx;
    size_t used = end == TEXT_MORE && d->step ? n - n % d->step : n;
    must(end == TEXT_LETTER || buf_put(&d->text, p, used, e));
    must(end == TEXT_DOC && buf_put_str(&d->text, "\n--\n", e));
    return (ptrdiff_t)used;
}

/* Reads a piece in windows of this many bytes, or more while none are used. -1: an error. */
static int read_piece(const struct input_form *form, const unsigned char *p, size_t n, size_t window,
                      struct documents *to)
{
    const struct doc_piece piece = {.name = "input"};
    const struct reading how = {0};
    struct doc_reader *r = calloc(1, form->size);
    struct err e = {0};
    uint64_t where = 0;
    must(!r);
    if (form->init)
        form->init(r, &how);
    form->begin(r, &piece);
    for (size_t at = 0, len = window;;) {
        bool last = n - at < len + (window % 2); /* or notice the end only in the next window, which is empty */
        len = last ? n - at : len;
        unsigned char *copy = malloc(len + 1); /* so that ASan detects reads past its end */
        must(!copy);
        memcpy(copy, p + at, len);
        const struct doc_window w = {.p = copy, .n = len, .offset = at, .last = last};
        ptrdiff_t used = form->window(r, &w, take, to, &where, &e);
        free(copy);
        must(used > (ptrdiff_t)len || (used < 0 && (!e.code || where > n)));
        if (used < 0 || last) {
            must(used >= 0 && (size_t)used != len);
            if (form->free)
                form->free(r);
            free(r);
            return used < 0 ? -1 : 0;
        }
        at += (size_t)used;
        len = used ? window : 2 * len;
    }
}

/* Reads the text in pieces, as text_splitter makes them. */
static int read_pieces(const struct input_form *form, const unsigned char *p, size_t n, size_t block,
                       struct documents *to)
{
    struct special_set none = {0};
    struct cutter cutter;
    int rc = 0;
    cutter_init(&cutter, form, true, &none);
    for (size_t at = 0; at < n && rc == 0;) {
        size_t left = n - at, low = 0, cut = 0;
        for (size_t high = block; cut == 0 && low < left; low = high, high *= 2)
            cut = cut_last(&cutter, p + at, left, low, high, true);
        must(cut >= left);
        rc = read_piece(form, p + at, cut ? cut : left, left + 1, to);
        at += cut ? cut : left;
    }
    return rc;
}

static void check(int rc, int want_rc, const struct documents *got, const struct documents *want)
{
    must(rc != want_rc);
    must(rc == 0 && (got->text.len != want->text.len ||
                     (want->text.len && memcmp(got->text.p, want->text.p, want->text.len) != 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct documents whole = {0}, some = {.step = data[0] / 4 % 8};
    struct format_guess hint = {.name = "text"};
    struct err e = {0};
    char text[FORMAT_GUESS_TEXT];
    static const struct input_form *const forms[] = {&input_form_wet, &input_form_null, &input_form_fe};
    const struct input_form *form = forms[data[0] % (sizeof forms / sizeof *forms)];
    size_t small = 1 + data[0] / 2, n = size - 1;
    const unsigned char *p = data + 1;
    int want = read_piece(form, p, n, n + 1, &whole);
    check(read_piece(form, p, n, small, &some), want, &some, &whole);
    some.text.len = 0;
    check(read_pieces(form, p, n, small, &some), want, &some, &whole);
    must(file_signature_check(form, p, n, "input", &e) && e.code != EX_DATAERR);
    must(format_guess_look(&hint, &input_form_text, p, n, "text", &e));
    must(format_guess_refuse(&input_form_jsonl, p, n, "text", &e) && e.code != EX_DATAERR);
    must(strlen(format_guess_text(&hint, text)) >= sizeof text - 1);
    buf_free(&whole.text);
    buf_free(&some.text);
    return 0;
}
