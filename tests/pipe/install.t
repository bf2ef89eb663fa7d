#!/bin/bash
# make install installs the programs, bpe, its commands and the manual pages, which work from there; make uninstall removes all of them.
# Also bpe itself: the commands and pages that it lists, finds and refuses.
. "$(dirname "$0")/../lib.sh"

# As packagers do, install into DESTDIR, which is part of no path in the installed files. Nothing is built again ("-o all").
D=$PWD/root
into() {
    make -s -C "$TOP" -o all "$1" BUILD="$BUILD" DESTDIR="$D" PREFIX=/opt/bpe
}
into install >log 2>&1
is "$? $(cat log)" "0 " "make install"
text 1 60000 >a.txt
line a.txt >want.json
bpe-chunk a.txt | bpe-count | bpe-sum >a.sum
bpe-encode -m want.json a.txt >want.ids
bpe describe a.sum want.json >want.txt
PATH=$D/opt/bpe/bin:/usr/local/bin:/usr/bin:/bin
hash -r
is "$(type -P bpe) $(type -P bpe-chunk)" "$D/opt/bpe/bin/bpe $D/opt/bpe/bin/bpe-chunk" "the installed programs are run"
bpe train -v 1000 -j 2 -o got.json a.txt
is $? 0 "bpe train: succeeds"
same want.json got.json "bpe train: the model of the plain pipeline"
bpe train -v 1000 --keep=kept a.txt | cmp - want.json
ok $? "bpe train --keep"
bpe encode -m got.json -o got.ids a.txt
is $? 0 "bpe encode: succeeds"
same want.ids got.ids "bpe encode: the ids of bpe-encode"
bpe shard -m got.json -o shards -f raw -n 0 a.txt >out
is $? 0 "bpe shard: succeeds"
same want.ids shards/train.bin "bpe shard: the ids of bpe-encode"
bpe tune -m got.json -j 1 -b 1M --rounds=1 a.txt >out
is "$? $(tail -n 1 out)" "0 fastest: bpe shard -m got.json -o DIR -j 1 -b 1M a.txt" "bpe tune"
for _ in {1..20}; do cat a.txt; done >large.txt
bpe plan -v 300 -j 1 large.txt >out
is "$? $(tail -n 1 out)" "0 command       bpe train -v 300 -j 1 -o tokenizer.json large.txt" "bpe plan"
bpe describe kept/sum got.json >got.txt
is $? 0 "bpe describe: succeeds"
same want.txt got.txt "bpe describe: the same statistics"
bpe-view --check kept/sum >out
is $? 0 "a program of the pipeline"
make -s -f "$D/opt/bpe/share/bpetools/vocab.mk" CORPUS=a.txt V=1000 OUT=made.json >out
same want.json made.json "vocab.mk: the model of the plain pipeline"
env PATH=/usr/local/bin:/usr/bin:/bin "$D/opt/bpe/bin/bpe" train -v 1000 a.txt | cmp - want.json
ok $? "bpe finds its programs when it is not on PATH"
ln -s "$D/opt/bpe/bin/bpe" linked
./linked train -v 1000 a.txt | cmp - want.json
ok $? "  also through a symbolic link"
(cd / && find "$D" -name 'bpe*.[1-8]' | wc -l) >n
is "$(cat n)" "$(find "$TOP/man" -name 'bpe*.[1-8]' | wc -l)" "all manual pages are installed"

version=$(bpe-chunk --version | head -n 1 | cut -d ' ' -f 2)
cat >version.c <<'END'
#include <bpetools.h>
#include <stdio.h>
int main(void) { return puts(bpe_version()) < 0; }
END
say() { sed -n "s|\${prefix}|$D/opt/bpe|g; s/^$1: //p" "$D/opt/bpe/lib/pkgconfig/bpetools.pc"; }
# shellcheck disable=SC2046
cc $(say Cflags) -o version version.c $(say Libs)
is "$? $(LD_LIBRARY_PATH=$D/opt/bpe/lib ./version) $(say Version)" "0 $version $version" \
    "a program builds with the library, its header and its pkg-config file"

# ---- bpe ----
like "$(bpe --version)" "bpe $version (Unicode 16.*; PCRE2 1?.*)"$'\n'"zstd 1.*, zlib 1.*; vector instructions: ?*" "bpe --version"
bpe help >listed
is $? 0 "bpe help: succeeds"
for name in "$TOP"/pipelines/*; do
    if [ ! -f "$name" ] || [ ! -x "$name" ]; then continue; fi
    name=${name##*/}
    case $name in *.* | README | bpe) continue ;; esac
    like "$(grep "^  $name " listed)" "  $name * ?*" "bpe help: lists $name"
    bpe "$name" --help >out 2>err
    like "$? $(cat err)$(cat out)" "0 usage: bpe $name *" "bpe $name --help"
    like "$(bpe help "$name" 2>&1)" "*$name*" "bpe help $name"
done
for program in "$D"/opt/bpe/bin/bpe-*; do
    program=${program##*/}
    like "$(grep "^  $program " listed)" "  $program * ?*" "bpe help: lists $program"
done
is "$(bpe --help)" "$(cat listed)" "bpe --help is bpe help"
# Each manual page by its name, with and without `bpe-`: man is called with the file.
mkdir told
cat >told/man <<'END'
#!/bin/sh
echo "$1"
END
chmod +x told/man
help_finds_pages() { # BPE DIRECTORY NAME
    local page file word bad=''
    for page in "$TOP"/man/*.[1-8]; do
        page=${page##*/}
        file=$2/man${page##*.}/$page
        [ -e "$file" ] || file=$2/$page
        for word in "${page%.*}" "$(basename "${page#bpe-}" ".${page##*.}")"; do
            [ "$(env PATH="$PWD/told:$PATH" "$1" help "$word" 2>&1)" = "$file" ] || bad+=" $word"
        done
    done
    is "$bad" "" "$3: bpe help finds every page"
}
help_finds_pages bpe "$D/opt/bpe/share/man" "installed"
gzip "$D/opt/bpe/share/man/man5/bpe-records.5"
is "$(env PATH="$PWD/told:$PATH" bpe help records)" "$D/opt/bpe/share/man/man5/bpe-records.5.gz" "also a page that was compressed later"
gunzip "$D/opt/bpe/share/man/man5/bpe-records.5.gz"
like "$(tail -n 1 listed)" "Other pages for bpe help: *records*bpe*" "bpe help: lists the pages that belong to no command"
if command -v man >/dev/null; then
    like "$(bpe help records | head -n 1)" "BPE-RECORDS(5)*" "man shows the page"
    [ ! -e /dev/full ] || fails 74 "bpe: standard output: cannot write: *" sh -c "bpe help records >/dev/full"
else
    skip "man shows the page" "man is not installed"
fi
if [ -e /dev/full ]; then
    fails 74 "bpe*: standard output: cannot write*" sh -c "PATH=$PWD/told:$PATH bpe help train >/dev/full"
    for ask in "bpe help" "bpe --version" "bpe train --help" "bpe encode --help" "bpe describe --help" "bpe parquet --help" "bpe shard --help" "bpe tune --help" "bpe plan --help" "bpe upload --help" "bpe sum-tree --help"; do
        fails 74 "bpe*: standard output: cannot write*" sh -c "$ask >/dev/full"
    done
fi
refuses 64 "bpe: trian: no such command; did you mean train? the commands are *" bpe trian
refuses 64 "bpe: nope: no such command; the commands are describe, encode, monitor, parquet, plan, report, shard, show, sum-tree, tasks, train, tune, upload; see bpe help" bpe nope
no_page='no such command, program or page;'
refuses 64 "bpe: nope: $no_page bpe help lists them" bpe help nope
refuses 64 "bpe: bpe-trian: $no_page did you mean bpe-train? bpe help lists them" bpe help bpe-trian
refuses 64 "bpe: recrods: $no_page did you mean records? bpe help lists them" bpe help recrods
refuses 64 "bpe: ../man/bpe: $no_page *" bpe help ../man/bpe
missing=''
sed -nE 's/^  ([a-z-]+)  .*/\1/p; s/^Other pages[^:]*: *//p' listed | tr -s ', ' '\n' >names
for page in "$TOP"/man/*.[1-8]; do
    page=$(basename "${page%.*}")
    grep -qxE "(bpe-)?${page#bpe-}" names || missing+=" $page"
done
is "$missing" "" "bpe help lists every page"
refuses 64 "bpe: count: not a command but a program, bpe-count; the commands are *" bpe count
refuses 64 "bpe: ../libexec: no such command; *" bpe ../libexec
refuses 64 "bpe: quoted.sh: no such command; *" bpe quoted.sh
refuses 64 "bpe: missing COMMAND; the commands are describe, encode, monitor, parquet, plan, report, shard, show, sum-tree, tasks, train, tune, upload; see bpe help" bpe
fails 64 "bpe train: missing -v N *" bpe train a.txt
bpe train -v 1000 none.txt >out 2>err
is $? 66 "the exit status is that of the command"
mkdir plain # without man
for program in bash sh sed readlink tr cat dirname fold; do ln -s "$(type -P $program)" plain; done
for name in train bpe-train bpe-count count; do
    like "$(PATH=$D/opt/bpe/bin:$PWD/plain bpe help $name)" "usage: *${name#bpe-}*" "bpe help $name, without man: its --help"
done
is "$(PATH=$D/opt/bpe/bin:$PWD/plain bpe help records)" "$D/opt/bpe/share/man/man5/bpe-records.5: man cannot show this page" "  for a page without a command, its path"

env -u PYTHONDONTWRITEBYTECODE python3 -c 'import sys; sys.path[0] = sys.argv[1]; import failure' "$D/opt/bpe/libexec/bpetools"
is "$(find "$D" -name 'failure.*.pyc' | wc -l)" 1 "Python compiles an installed module"
into uninstall >log 2>&1
is "$? $(cat log)" "0 " "make uninstall"
is "$(find "$D" ! -type d; find "$D" -name bpetools)" "" "make uninstall: nothing is left, not even compiled modules"
into uninstall >log 2>&1
like "$? $(cat log)" "2 uninstall: $D/opt/bpe/share/bpetools/installed: no such file; nothing is installed there*" "  a second make uninstall reports that nothing is installed"

# ---- The installed files are those of the source ----

# Install from a copy of the source that contains junk, and scripts that the Makefile does not know.
mkdir source
cp -r "$TOP"/{Makefile,pipelines,man,common} source
as_installed() { (cd "$1" && find . -type f -printf '%p %m\n' | grep -v bpetools/installed | sort); }
from_copy() { # TARGET DESTDIR
    make -s -C source -o all "$1" BUILD="$BUILD" DESTDIR="$PWD/$2" PREFIX=/opt/bpe >log 2>&1
    is "$? $(cat log)" "0 " "$1${3:+ $3}"
}
from_copy install clean
is "$(as_installed clean | grep -E 'README|Containerfile|demo')" "" "files for developers are not installed"
(
    cd source/pipelines || exit
    mkdir -p __pycache__ ray/__pycache__ ray/.cache
    touch __pycache__/failure.pyc ray/__pycache__/engine.cpython-311.pyc ray/.cache/engine.py ray/notes.txt
    for file in parquet ray/train.py ssh/train quoted.sh vocab.mk; do
        for backup in "$file~" "$file.bak" "$file.orig" "$file.rej" "${file%/*}/#${file##*/}#" "copy of ${file##*/}" "${file%/*}/.${file##*/}.swp"; do
            cp "$file" "$backup" 2>/dev/null # some of these names are impossible for files without a directory
        done
    done
    cp parquet '#parquet#'
    cp quoted.sh .quoted.sh.swp
)
from_copy install junk "from a source with junk"
is "$(as_installed junk)" "$(as_installed clean)" "  no junk is installed"
(
    cd source/pipelines || exit
    mkdir flux
    printf '#!/bin/sh\n# greet - says hello\necho hello\n' | tee greet >flux/train
    chmod +x greet flux/train
    echo '# shared' >flux/common.sh
)
from_copy install junk "over an older version"
is "$(junk/opt/bpe/bin/bpe greet) $(junk/opt/bpe/bin/bpe flux train) $(cd junk/opt/bpe/libexec/bpetools/flux && echo *)" "hello hello common.sh train" \
    "  new commands and engines are installed, although no list names them"
touch junk/opt/bpe/{bin/mine,libexec/bpetools/flux/mine.py,share/bpetools/mine.mk,share/man/man1/mine.1}
rm -r source/pipelines/greet source/pipelines/flux/common.sh
from_copy install junk "after some were removed from the source"
is "$(cd junk/opt/bpe/libexec/bpetools && echo gree* flux/*)" "gree* flux/mine.py flux/train" \
    "  they are removed from the installation, too"
from_copy uninstall junk
is "$(cd junk/opt/bpe && find . ! -type d | sort | tr '\n' ' ')" "./bin/mine ./libexec/bpetools/flux/mine.py ./share/bpetools/mine.mk ./share/man/man1/mine.1 " \
    "  files that were not installed remain"

# ---- Not installed ----
PATH=/usr/local/bin:/usr/bin:/bin
hash -r
"$BUILD/bpe" train -v 1000 a.txt | cmp - want.json
ok $? "not installed: bpe train"
is "$("$BUILD/bpe" help)" "$(cat listed)" "not installed: bpe help prints the same"
like "$("$BUILD/bpe" help train 2>&1)" "*--fan-out*" "not installed: bpe help train"
help_finds_pages "$BUILD/bpe" "$TOP/man" "not installed"

done_testing
