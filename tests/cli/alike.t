#!/usr/bin/env bash
# shellcheck disable=SC2012,SC2238
# All programs behave alike: help, version, wrong options, a wrong environment, output that cannot be written. Options with the same
# meaning have the same name in each.
. "$(dirname "$0")/../lib.sh"

text 1 20000 >in.txt
bpe-chunk in.txt >in.chunks
bpe-count in.chunks >in.counts
bpe-sum in.counts >in.sum
bpe-merge -v 300 in.sum >in.json
bpe-encode -m in.json in.txt >in.ids
bpe-chunk -m in.json in.txt | bpe-encode -m in.json | bpe-shard -o in.shards >in.jsonl

# runs_of PROGRAM: arguments with which it succeeds.
runs_of() {
    case $1 in
    bpe-chunk) echo in.txt ;;
    bpe-count) echo in.chunks ;;
    bpe-sum) echo in.counts ;;
    bpe-merge) echo -v 300 in.sum ;;
    bpe-encode) echo -m in.json in.txt ;;
    bpe-decode) echo -m in.json in.ids ;;
    bpe-shard) echo --check=in.shards -m in.json in.txt ;;
    bpe-model) echo in.json ;;
    bpe-view) echo in.sum ;;
    esac
}

programs=$(cd "$TOP/cmd" && ls ./bpe-*.c | sed 's|./||; s|\.c$||')
for p in $programs; do
    read -ra args <<<"$(runs_of "$p")"
    ok $((${#args[@]} == 0)) "$p: this test has arguments for it"
    "$p" "${args[@]}" >out 2>err
    is "$? $(wc -c <err)" "0 0" "$p ${args[*]}: succeeds, with no message"

    for help in -h --help --he "--help --nonsense" "in.txt -h"; do
        # shellcheck disable=SC2086
        "$p" $help >help.out 2>help.err
        is "$? $(wc -c <help.err)" "0 0" "$p $help: goes to standard output"
        like "$(cat help.out)" "usage: $p *"$'\n'"  -h, --help             *show this help"$'\n'"      --version          *show the version" \
            "  and begins with the usage"
    done
    is "$(awk 'length > 100' help.out)" "" "  in lines of at most 100 characters"
    like "$("$p" --version 2>&1) $?" "$p [0-9]*.[0-9]*.[0-9]*"$'\n'"* 0" "$p --version: name and version, exit 0"
    is "$(BPE_SIMD=none "$p" --version | sed -n '2s/.*vector/vector/p; 3,$p')" "vector instructions: none" "  and the vector instructions chosen by BPE_SIMD"
    fails 64 "$p: BPE_SIMD=mmx: *" env BPE_SIMD=mmx "$p" --version

    fails 64 "$p: unknown option -Z; see --help" "$p" -Z
    fails 64 "$p: unknown option --nonsense; see --help" "$p" --nonsense
    fails 64 "$p: option --help takes no argument; see --help" "$p" --help=yes
    fails 64 "$p: unknown option -V; see --help" "$p" -V
    fails 64 "$p: unknown option -Z; see --help" "$p" "${args[@]}" -Z -h
    fails 66 "$p: --nonsense: *" "$p" "${args[@]:0:${#args[@]}-1}" -- --nonsense
    fails 64 "$p: BPE_SIMD=mmx: must be one of none, neon, sse2, avx2, avx512" env BPE_SIMD=mmx "$p" "${args[@]}"
    BPE_SIMD=mmx "$p" --help 2>&1 | cmp -s - help.out
    ok $? "  but --help still works"
    for ask in --help --version "${args[*]}"; do
        fails 74 "$p: standard output: cannot write: No space left on device" sh -c "$p $ask >/dev/full"
        fails 74 "$p: standard output: cannot write: Bad file descriptor" sh -c "$p $ask >&-"
    done
    # Programs write to standard error only if something is wrong, so they do not need it.
    sh -c "$p ${args[*]} 2>&-" >out.quiet
    is $? 0 "$p ${args[*]}: standard error may be closed"
    sh -c "$p -Z 2>&- >/dev/null"
    is $? 64 "  and a usage error still exits with 64"

    # Filters of the pipeline write a failure record, even for wrong options; the other programs write nothing.
    "$p" -Z >failure 2>/dev/null
    case $p in
    bpe-chunk | bpe-count | bpe-sum)
        like "$(bpe-view failure)" "# failure * exit=64 *unknown*-Z*" "$p -Z: writes a failure record for the next program"
        ;;
    *) is "$(wc -c <failure)" 0 "$p -Z: writes nothing to standard output" ;;
    esac
    case $p in
    bpe-chunk | bpe-count | bpe-sum)
        if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
            script -qec "$p ${args[*]}" /dev/null </dev/null >tty 2>/dev/null
            like "$(tr -d '\r' <tty)" "*$p: standard output is a terminal; *" "$p: writes no records to a terminal"
            is "$(wc -l <tty)" 1 "  nor a failure record"
        else
            skip "$p: writes no records to a terminal" "no terminal device, or no script(1)"
        fi
        ;;
    esac
done

# ---- One name for one meaning ----

for p in bpe-chunk bpe-count bpe-model bpe-encode bpe-decode; do
    like "$("$p" -h)" "*"$'\n'"  -s, --special-token=TOKEN*" "$p: special tokens are -s, --special-token"
done
bpe-chunk -s '<a>' -s '<b>=x' in.txt 2>/dev/null | bpe-view | grep -om 1 'pattern=.* special=[^ ]*' >want.rules
like "$(cat want.rules)" "*special=<a> special=<b>=x" "bpe-chunk -s: a token may contain an equals sign"
for form in "--special-token=<a> --special-token=<b>=x" "--special-token <a> --special-token <b>=x" "--special=<a> --special=<b>=x" \
    "--special <a> --special-token=<b>=x" "--spec=<a> --special-tok=<b>=x" "-s <a> --special=<b>=x --special-token=<a>"; do
    # shellcheck disable=SC2086
    bpe-chunk $form in.txt 2>/dev/null | bpe-view | grep -om 1 'pattern=.* special=[^ ]*' >got.rules
    same got.rules want.rules "bpe-chunk $form: the same"
done
fails 64 "bpe-chunk: -s: a special token must be UTF-8 text, and not empty" bpe-chunk --special-token= in.txt
bpe-merge -v 300 -f tiktoken -o plain.tiktoken in.sum && rm plain.tiktoken.json
bpe-model -p gpt2 -s '<a>' -s '<b>=400' plain.tiktoken >want.json
like "$(bpe-model --info want.json)" "*special: 299 <a>*special: 400 <b>*" "bpe-model -s: with an id or without"
for form in "--special-token=<a> --special-token=<b>=400" "--special=<a> --special=<b>=400" "--special <a> -s<b>=400" \
    "--spec=<a> --special-tok <b>=400"; do
    # shellcheck disable=SC2086
    bpe-model -p gpt2 $form plain.tiktoken >got.json
    same got.json want.json "bpe-model $form: the same"
done
bpe-encode -m want.json -f text in.txt >want.ids
for p in "-s <a> -s <b>=400" "--special-token=<a> --special-token=<b>=400" "--special-token <a> --special=token -s<b>=400"; do
    # shellcheck disable=SC2086
    bpe-encode -m plain.tiktoken -p gpt2 $p -f text in.txt >got.ids
    same got.ids want.ids "bpe-encode $p"
done
fails 64 "bpe-encode: --special <a>: must be one of token, text, error" bpe-encode -m in.json --special='<a>' in.txt
fails 64 "bpe-sum: unknown option -Z; see --help" bpe-sum --partial -Zx in.counts
fails 64 "bpe-encode: option --spec=token is ambiguous: --special, --special-token; see --help" bpe-encode -m in.json --spec=token in.txt

# The commands of bpe.
for command in describe encode job plan shard sum-tree tasks "tasks plan" "tasks todo" "tasks run" "tasks train" "tasks shard" train tune upload; do
    # shellcheck disable=SC2086
    bpe $command --help >help.out 2>help.err
    is "$? $(cat help.err) $(awk 'length > 100' help.out)" "0  " "bpe $command --help: in lines of at most 100 characters"
done

done_testing
