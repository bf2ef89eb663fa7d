#!/bin/sh
# demo.sh - run by `make demo`: finds text on this machine, trains a tokenizer on it with the pipeline of bpe(7),
# describes the result, and encodes and decodes the text with it. Takes a few seconds. VOCAB_SIZE is the size of the vocabulary,
# MEGABYTES the maximum amount of text.
#
# Exit status: 127 if something is not installed, 66 if there is no text, 70 if the decoded text differs; otherwise that
# of the pipeline.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$top/$BUILD ;; esac
PATH=$BUILD:$PATH
export PATH LC_ALL=C.UTF-8
VOCAB_SIZE=${VOCAB_SIZE:-8000} MEGABYTES=${MEGABYTES:-32}
model=$BUILD/demo-tokenizer.json sum=$BUILD/demo.sum names=$BUILD/demo.files
text=$BUILD/demo.txt ids=$BUILD/demo.ids

for program in bpe-chunk bpe-count bpe-sum bpe-merge bpe-encode bpe-decode bpe parallel; do
    command -v "$program" >/dev/null || { echo "demo: $program is not installed, or not on PATH" >&2 && exit 127; }
done

# Prints the time of day in milliseconds.
milliseconds() { date +%s%3N; }

# Finds text of one kind: description, maximum megabytes, directories, patterns for find -name. Leaves out large compressed
# files: their lines that do not begin with a letter would make records longer than GNU parallel's block, and it would warn
# about each.
found() {
    what=$1 most=$2 where=$3
    shift 3
    for name; do
        set -- "$@" -o -name "$name"
        shift
    done
    shift # the first -o
    # shellcheck disable=SC2086
    find $where -type f -readable -size +1k -size -4096k \( ! -name '*.gz' -o -size -160k \) \
        \( "$@" \) -printf '%s\t%p\n' 2>/dev/null | sort -k 2 |
        awk -F '\t' -v what="$what" -v most="$most" -v names="$names" '
            bytes + $1 > most * 1e6 { next }
            { bytes += $1; n++; print $2 >>names }
            END { if (n) printf "  %5d files, %5.1f MB  %s\n", n, bytes / 1e6, what }'
}

# The package descriptions of apt, as one file.
if command -v apt-cache >/dev/null; then
    timeout 20 apt-cache dumpavail 2>/dev/null | awk '
        /^Description(-en)?:/ { sub(/^[^:]*: /, ""); print; inside = 1; next }
        /^ / { if (inside) print substr($0, 2); next }
        { inside = 0 }' >"$BUILD/demo.packages.txt"
fi

: >"$names" || exit 73
echo "Text on this machine (some of it compressed):"
part=$((MEGABYTES / 4))
found "documents (/usr/share/doc)" "$part" "/usr/share/doc /usr/share/common-licenses" \
    copyright 'changelog*' 'README*' 'NEWS*' '*.txt' '*.txt.gz' '*.html' 'GPL*' 'LGPL*' 'GFDL*' 'Apache*' 'MPL*' Artistic
found "descriptions of packages" "$part" "$BUILD /var/lib/dpkg" demo.packages.txt status
found "manual pages" $((part / 2)) "/usr/share/man" '*.[1-8]' '*.[1-8].gz' '*.[1-8]pm.gz' '*.3perl.gz' '*.[1-8]ssl.gz'
found "Perl and its documents" "$part" "/usr/share/perl /usr/share/perl5" '*.pm' '*.pod' '*.pl'
found "C headers" "$part" "/usr/include /usr/lib/gcc" '*.h'
found "Python" $((part / 2)) "/usr/lib/python3 /usr/lib/python3.11 /usr/lib/python3.12 /usr/lib/python3.13" '*.py'
if [ ! -s "$names" ]; then
    echo "demo: no text found; train on some of your own: bpe train -v 8000 FILE..." >&2
    exit 66
fi

# The names as arguments, one per line.
set -f
IFS='
'
# shellcheck disable=SC2046
set -- $(cat "$names")
echo
echo "bpe-chunk --invalid=replace FILE... | parallel --pipe bpe-count | bpe-sum | bpe-merge -v $VOCAB_SIZE > tokenizer.json"
start=$(milliseconds)
bpe-chunk --invalid=replace -- "$@" | parallel --will-cite --pipe bpe-count | bpe-sum | tee "$sum" |
    bpe-merge -v "$VOCAB_SIZE" -o "$model" || exit
took=$(($(milliseconds) - start))

echo
bpe describe "$sum" "$model" || exit
printf 'time                 %d.%d s to train\n' $((took / 1000)) $((took % 1000 / 100))
echo "the tokenizer        ${model#"$PWD"/} (Hugging Face: Tokenizer.from_file)"

# Encodes and decodes the text as bytes, so that invalid UTF-8 is preserved as well.
for file; do
    case $file in *.gz) gzip -dc -- "$file" ;; *) cat -- "$file" ;; esac
done >"$text"
echo
echo "bpe encode -m tokenizer.json --invalid=bytes demo.txt > demo.ids; bpe-decode -m tokenizer.json demo.ids | cmp - demo.txt"
start=$(milliseconds)
bpe encode -m "$model" --invalid=bytes "$text" >"$ids" || exit
took=$(($(milliseconds) - start + 1))
bpe-decode -m "$model" "$ids" | cmp - "$text" || { echo "demo: the decoded text differs" >&2 && exit 70; }
bytes=$(wc -c <"$text") tokens=$(($(wc -c <"$ids") / (VOCAB_SIZE > 65536 ? 4 : 2)))
printf 'text                 %d bytes, decoded from the ids: the same\n' "$bytes"
printf 'tokens               %d, %d.%02d bytes per token\n' "$tokens" $((bytes / tokens)) $((bytes * 100 / tokens % 100))
printf 'encoded              in %d.%02d s, %d MB/s\n' $((took / 1000)) $((took % 1000 / 10)) $((bytes / took / 1000))
rm "$text" "$ids"
