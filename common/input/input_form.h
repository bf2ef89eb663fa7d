/* input_form.h - input forms (the input formats of the manual): how documents are stored in the bytes of a source. A
 * form is a file with a struct input_form, and a row in the table below, which options, records, manifests and messages
 * use.
 */
#ifndef BPE_INPUT_INPUT_FORM_H
#define BPE_INPUT_INPUT_FORM_H

#include "base/sys/err.h"
#include "input/doc_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reading;

/* The forms that have an option, in the order of --help: its number in records, which never changes; its letter, 0 if
 * none; its help. FLAG: an option without an argument; FIELD: --NAME=FIELD, with the default of FIELD. The other
 * arguments of INPUT_FORMS are passed on to each. */
/* clang-format off */
#define INPUT_FORMS(FLAG, FIELD, ...) \
    FLAG(NUL, null, 2, '0', "each document ends with a NUL byte (with --files-from: each name does)", __VA_ARGS__) \
    FIELD(JSONL, jsonl, 1, 0, "JSON Lines; the text is the string at FIELD (default text; a.b nests)", "text", \
          __VA_ARGS__) \
    FLAG(WET, wet, 3, 0, "WET files (WARC): the text of each conversion record is a document", __VA_ARGS__) \
    FLAG(FE, fe, 4, 0, "each document ends with a byte FE, so its text may contain NUL bytes", __VA_ARGS__)
/* clang-format on */

#define INPUT_FORM_NUMBER(ID, name, number, ...) FORM_##ID = (number),
#define INPUT_FORM_ONE(...) +1

enum form { FORM_TEXT = 0, INPUT_FORMS(INPUT_FORM_NUMBER, INPUT_FORM_NUMBER, ) };
enum { N_INPUT_FORMS = 1 INPUT_FORMS(INPUT_FORM_ONE, INPUT_FORM_ONE, ) };

/* How the place of a document is given. */
enum input_place {
    PLACE_OFFSET, /* its first byte in the source */
    PLACE_LINE,   /* the number of its line, for a form whose `end` is a newline; its reader counts lines, keeps the
                     number in the place (doc_reader.h), and names it in errors */
    PLACE_RECORD, /* bytes counted within its record; such documents cannot be found again */
};

struct input_form {
    const char *name; /* its option without the dashes, and its name in manifests and in bpe-view */
    bool documents;   /* each text passed on is a document; false: special tokens end documents */
    bool decoded;     /* that text differs from the source's bytes at the document's place */
    bool has_field;   /* the text is in a field: its reader uses field, id and skip_bad_lines of the reading */
    bool any_start;   /* a source may begin with any bytes, so they are not checked for being text */
    enum input_place place;
    int end; /* the byte that ends a document; the source may be cut only after it; -1: see last_cut */
    /* For a form whose cuts cannot be recognized from the text around them: returns the last split point in p(lo ..
     * hi], where p[0 .. n) begins with a piece; 0: there is none. A file by reference is then one piece, and a
     * compressed file is not cut. NULL: cuts are after `end` or, if that is -1, as in plain text (cut.h). */
    size_t (*last_cut)(const unsigned char *p, size_t n, size_t lo, size_t hi);

    /* For a sample of the text (bpe plan, bpe tune): a document ends after the first `border_ends` bytes of this
     * string. Some documents may be missed. */
    const char *border;
    size_t border_len, border_ends;
    const char *shortest; /* one of the shortest inputs with a document */
    const char *parquet;  /* the option with which `bpe parquet` writes rows in this form, so that one run can read
                             both; "": not needed; NULL: there is none */
    const char *files;    /* for completion: shell patterns of its file names; NULL: any name */

    /* The reader of its documents: `size` bytes, zeroed, which init sets up and free releases; both functions may be
     * NULL. `how` is borrowed. */
    size_t size;
    void (*init)(struct doc_reader *r, const struct reading *how);
    void (*free)(struct doc_reader *r);
    void (*begin)(struct doc_reader *r, const struct doc_piece *x);
    void (*end_piece)(struct doc_reader *r, uint64_t end); /* the piece ended at this offset; may be NULL */
    /* Passes on the documents in a window. Returns the number of bytes used; -1: *where is set to the offset of the
     * text being passed on, or of the error. The error has no place yet, unless the place is a line (PLACE_LINE). */
    ptrdiff_t (*window)(struct doc_reader *r, const struct doc_window *w, document_fn *text, void *ctx, uint64_t *where,
                        struct err *e);
};

/* Whether each document ends with a byte other than a newline. */
static inline bool input_form_has_end(const struct input_form *f)
{
    return f->end >= 0 && f->end != '\n';
}

#define INPUT_FORM_DECLARE(ID, name, ...) extern const struct input_form input_form_##name;
extern const struct input_form input_form_text;
INPUT_FORMS(INPUT_FORM_DECLARE, INPUT_FORM_DECLARE, )

extern const struct input_form *const input_forms[N_INPUT_FORMS]; /* by enum form */

#endif
