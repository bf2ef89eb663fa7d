/* file_signature.c - see file_signature.h. */
#include "input/file_signature.h"

#include "input/file_command.h"

#include <stdbool.h>
#include <string.h>

struct kind {
    const char *is;      /* what it is */
    const char *command; /* a command that writes the text of FILE; or, if `use` is NULL, the whole hint */
    const char *use;     /* after a space, the option for the program that reads its output, or a note; or "" */
};

/* ---- Signatures of fixed bytes ---- */

struct signature {
    const char *bytes;
    size_t len, at; /* where they begin */
    struct kind kind;
};

#define BYTES(literal) literal, sizeof literal - 1
#define TO_NUL "write its texts with a NUL byte after each, for -0"
#define AS_ONE " (all of its files as one document)"
#define TO_PARQUET TO_NUL ", or as Parquet, for bpe parquet"

enum { AFTER_BZH = 4 }; /* offset of these signatures: after "BZh" and a digit */

/* clang-format off */
static const struct signature signatures[] = {
    {BYTES("\xFD\x37zXZ\0"), 0, {"xz data", "xz -dc FILE", ""}},
    {BYTES("\x04\x22\x4D\x18"), 0, {"lz4 data", "lz4 -dc FILE", ""}},
    {BYTES("\x02\x21\x4C\x18"), 0, {"lz4 data", "lz4 -dc FILE", ""}}, /* the legacy format */
    {BYTES("1AY&SY"), AFTER_BZH, {"bzip2 data", "bzip2 -dc FILE", ""}},
    {BYTES("\x17\x72\x45\x38\x50\x90"), AFTER_BZH, {"bzip2 data", "bzip2 -dc FILE", ""}}, /* an empty file */
    {BYTES("LZIP\1"), 0, {"lzip data", "lzip -dc FILE", ""}},
    {BYTES("\x1F\x9D"), 0, {"compress data", "gzip -dc FILE", ""}},
    {BYTES("\x1F\x8B\x08"), 0, {"gzip data inside compressed data", "zstdcat FILE | zstdcat", ""}},
    {BYTES("\x28\xB5\x2F\xFD"), 0, {"zstd data inside compressed data", "zstdcat FILE | zstdcat", ""}},
    {BYTES("ustar\0" "00"), 257, {"a tar archive", "tar -xOf FILE", AS_ONE}},
    {BYTES("ustar  \0"), 257, {"a tar archive", "tar -xOf FILE", AS_ONE}}, /* GNU tar */
    {BYTES("PK\3\4"), 0, {"a zip archive", "unzip -p FILE", AS_ONE}},
    {BYTES("PK\5\6"), 0, {"a zip archive", "unzip -p FILE", AS_ONE}}, /* empty */
    {BYTES("7z\xBC\xAF\x27\x1C"), 0, {"a 7z archive", "7z x -so FILE", AS_ONE}},
    {BYTES("Rar!\x1A\x07"), 0, {"a rar archive", "unrar p -inul FILE", AS_ONE}},
    {BYTES("PAR1\x15"), 0, {"a Parquet file", "bpe parquet FILE", " -0 (bpe train, encode and shard: --parquet)"}},
    {BYTES("ARROW1\0\0"), 0, {"an Arrow IPC file", TO_PARQUET, NULL}},
    {BYTES("FEA1\0\0\0\0"), 0, {"a Feather file", "write it as Parquet, for bpe parquet", NULL}},
    {BYTES("Obj\1"), 0, {"an Avro file", TO_PARQUET, NULL}},
    {BYTES("\x89HDF\r\n\x1A\n"), 0, {"an HDF5 file", TO_NUL, NULL}},
    {BYTES("\x93NUMPY"), 0, {"a NumPy array", TO_NUL, NULL}},
    {BYTES("\x7F" "ELF"), 0, {"a program or library (ELF)", "leave it out", NULL}},
    {BYTES("\x89PNG\r\n\x1A\n"), 0, {"an image (PNG)", "leave it out", NULL}},
    {BYTES("\xFF\xD8\xFF"), 0, {"an image (JPEG)", "leave it out", NULL}},
    {BYTES("SQLite format 3\0"), 0, {"an SQLite database", "sqlite3 FILE 'SELECT column FROM table'", ""}},
    {BYTES("\xFF\xFE\0\0"), 0, {"text in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE", ""}},
    {BYTES("\0\0\xFE\xFF"), 0, {"text in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE", ""}},
    {BYTES("\xFF\xFE"), 0, {"text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE", ""}},
    {BYTES("\xFE\xFF"), 0, {"text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE", ""}},
};
/* clang-format on */

static const struct kind *by_signature(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];
        bool bzip2 = s->at == AFTER_BZH;
        if (n >= s->at + s->len && memcmp(p + s->at, s->bytes, s->len) == 0 && (!bzip2 || memcmp(p, "BZh", 3) == 0))
            return &s->kind;
    }
    return NULL;
}

/* ---- Other signatures ---- */

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

/* The header of a record (bpe-records(5)), of any version. */
static bool is_record(const unsigned char *p, size_t n)
{
    enum { HEADER = 27 };
    if (n < HEADER || p[0] != 0xFF || !is_digit(p[1]) || p[2] < 'A' || p[2] > 'Z')
        return false;
    for (size_t i = 3; i < HEADER; i++) {
        if (!is_digit(p[i]) && (p[i] < 'a' || p[i] > 'f') && (p[i] < 'A' || p[i] > 'F'))
            return false;
    }
    return true;
}

/* After the line with the version comes a comment of bytes that are not ASCII, or an object. */
static bool is_pdf(const unsigned char *p, size_t n)
{
    size_t at = 8;
    if (n < 16 || memcmp(p, "%PDF-", 5) != 0 || !is_digit(p[5]) || p[6] != '.' || !is_digit(p[7]))
        return false;
    while (at < 11 && (p[at] == ' ' || p[at] == '\r' || p[at] == '\n'))
        at++;
    if (p[at] == '%')
        return p[at + 1] >= 0x80;
    return at > 8 && is_digit(p[at]) && memmem(p + at, n - at < 20 ? n - at : 20, " obj", 4) != NULL;
}

/* The mark is only three letters, but the index or footer after it has bytes below 32, whether it is compressed (it
 * then begins with its length, in three bytes) or not. */
static bool is_orc(const unsigned char *p, size_t n, const struct input_form *form)
{
    enum { MARK = 3, LOOK = 16 };
    size_t n_numbers = 0;
    if (n < MARK || memcmp(p, "ORC", MARK) != 0)
        return false;
    for (size_t i = MARK; i < n && i < MARK + LOOK; i++)
        n_numbers += p[i] < ' ' && !memchr("\t\n\v\f\r", p[i], 5) && (p[i] || form->end != 0);
    return n_numbers >= 2;
}

/* A message of a stream: a mark, then a length, which is a multiple of 8. */
static bool is_arrow_stream(const unsigned char *p, size_t n)
{
    return n >= 8 && memcmp(p, "\xFF\xFF\xFF\xFF", 4) == 0 && p[4] % 8 == 0 && p[7] == 0;
}

/* Text, most of it ASCII, in characters of `width` bytes: the byte at `place` of each is not NUL, and three quarters of
 * the other bytes are NUL. */
static bool is_wide(const unsigned char *p, size_t n, size_t width, size_t place)
{
    enum { LEN_MIN = 16 };
    size_t n_nul = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] == 0 && i % width == place)
            return false;
        n_nul += p[i] == 0;
    }
    return n >= LEN_MIN && n_nul * width * 4 >= n * (width - 1) * 3;
}

#define OR_NUL " (or -0, if each of its documents ends with a NUL byte)"

static const struct kind *by_pattern(const unsigned char *p, size_t n, const struct input_form *form)
{
    static const struct kind record = {"a bpetools record (chunks, counts or tokens)",
                                       "bpe-count and bpe-encode read chunks; bpe-view shows all", NULL},
                             pdf = {"a PDF document", "pdftotext FILE -", ""}, orc = {"an ORC file", TO_PARQUET, NULL},
                             arrow = {"an Arrow IPC stream", TO_PARQUET, NULL},
                             wide[] = {{"text in UTF-16LE", "iconv -f UTF-16LE -t UTF-8 FILE", OR_NUL},
                                       {"text in UTF-16BE", "iconv -f UTF-16BE -t UTF-8 FILE", OR_NUL},
                                       {"text in UTF-32LE", "iconv -f UTF-32LE -t UTF-8 FILE", ""},
                                       {"text in UTF-32BE", "iconv -f UTF-32BE -t UTF-8 FILE", ""}};
    if (is_record(p, n))
        return &record;
    if (is_pdf(p, n))
        return &pdf;
    if (is_orc(p, n, form))
        return &orc;
    if (is_arrow_stream(p, n))
        return &arrow;
    for (size_t i = 0; i < 4 && form->end != 0; i++) {
        size_t width = i < 2 ? 2 : 4;
        if (is_wide(p, n, width, i % 2 ? width - 1 : 0))
            return &wide[i];
    }
    return NULL;
}

int file_signature_check(const struct input_form *form, const unsigned char *p, size_t n, const char *name,
                         struct err *e)
{
    char command[FILE_COMMAND];
    if (form->any_start)
        return 0;
    if (n > FILE_SIGNATURE_LEN)
        n = FILE_SIGNATURE_LEN;
    const struct kind *k = by_signature(p, n);
    if (!k)
        k = by_pattern(p, n, form);
    if (!k)
        return 0;
    return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "this is %s, not UTF-8 text; %s%s%s", k->is,
                  file_command(k->command, name, command), k->use ? " | ..." : "", k->use ? k->use : "");
}
