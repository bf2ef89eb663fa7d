#!/bin/bash
# pipelines/Containerfile: the image builds, and the programs and commands work in it, as an ordinary user, as they do outside.
#
# mmdebstrap makes Debian's base image (once, in $BUILD/base-image.tar), so that no registry is needed. buildah makes the image, and runs
# the steps in a chroot. Both download Debian packages, so only make check-engines runs this test.
. "$(dirname "$0")/engine.sh"
[ "${ENGINES:-}" = required ] || {
    echo "1..0 # SKIP downloads Debian packages, which takes minutes: make check-engines"
    exit 0
}
engine container 'apt-get install buildah mmdebstrap' buildah mmdebstrap

base=$BUILD/base-image.tar
builder=(buildah --storage-driver=vfs --root "$PWD/store" --runroot "$PWD/running")
in_image=()

# image WORD...: runs a command in a container of the image, with the directory shared/ as /data.
image() {
    "${builder[@]}" run --isolation=chroot -v "$PWD/shared:/data" "${in_image[@]}" "$container" -- "$@"
}

[ -e "$base" ] || {
    mmdebstrap --quiet --format=tar --variant=minbase bookworm "$base.new" && mv "$base.new" "$base"
} >base.out 2>&1
ok $? "a base image like debian:bookworm-slim" || sed 's/^/# /' base.out
container=$("${builder[@]}" from scratch) && "${builder[@]}" add -q "$container" "$base" >/dev/null &&
    "${builder[@]}" commit -q --rm "$container" docker.io/library/debian:bookworm-slim >/dev/null
"${builder[@]}" build --pull=never --isolation=chroot -t bpetools -f "$TOP/pipelines/Containerfile" "$TOP" >build.out 2>&1
ok $? "the image builds" || {
    tail -n 20 build.out | sed 's/^/# /'
    done_testing
}
container=$("${builder[@]}" from --pull=never localhost/bpetools)
mkdir -m 777 shared
text 1 2000000 >shared/in.txt
line shared/in.txt >want.json

is "$(image id -u)" 1000 "its user is not root"
is "$(image bash -c 'command -v gcc make; ls /usr/include 2>/dev/null')" "" "it has no compiler"
is "$(image bpe --version)" "$(bpe --version)" "bpe --version"
is "$(image bpe help)" "$(bpe help)" "bpe help"
is "$("${builder[@]}" inspect --type image --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' bpetools)" "[] [bpe help]" \
    "  which is its default command"
make -s -C "$TOP" install BUILD="$BUILD" DESTDIR="$PWD/installed" >install.out 2>&1
ok $? "make install" || sed 's/^/# /' install.out
is "$(image find /usr/local/share/man -name 'bpe*' -printf '%f\n' | sort)" \
    "$(find installed/usr/local/share/man -name 'bpe*' -printf '%f\n' | sort)" "it has the manual pages"
printf 'the cat sat' | bpe-chunk --inline | image bpe-count | bpe-sum | bpe-view --check >got
is "$(cat got)" "complete: 2 records, 11 B of text" "records are piped through the container"
image bash -c 'bpe-chunk in.txt | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 1000' >line.json 2>err
is "$? $(cat err)" "0 " "the pipeline: no messages"
same line.json want.json "  the same model"
image bpe train -v 1000 -o train.json in.txt
same shared/train.json want.json "bpe train, into a directory of the host: the same model"
image bpe shard -m train.json -o shards -n 100K --eot=before in.txt >/dev/null
bpe-shard --check shared/shards >got 2>&1
is "$?" 0 "bpe shard makes shards" || cat got
in_image=(--user 4321:4321)
image bash -c 'bpe-chunk in.txt | parallel --pipe bpe-count | bpe-sum | bpe-merge -v 1000' >any.json 2>err
is "$? $(cat err)" "0 " "an unknown user: no messages"
same any.json want.json "  the same model"
printf 'caf\351' >shared/latin1.txt
image bash -c 'bpe train -v 1000 latin1.txt' >none.json 2>err
is "$? $(wc -c <none.json)" "65 0" "bad text: no model, and the exit status"

"${builder[@]}" rm -a >/dev/null
done_testing
