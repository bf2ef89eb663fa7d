#!/usr/bin/env bash
# Special tokens end documents: the leftmost match wins, then the longest, wherever the text is cut for the workers.
. "$(dirname "$0")/../lib.sh"

# docs TEXT OPTION...: the documents of TEXT (for printf), one per line, escaped and sorted.
docs() {
    local text=$1
    shift
    # shellcheck disable=SC2059
    printf "$text" | bpe-chunk -p bytes "$@" | bpe-count | bpe-sum | words | cut -f2
}

is "$(docs 'one<|endoftext|>two')" $'one\ntwo' "the default is <|endoftext|>"
fails 64 "bpe-chunk: -s <|a|>,<|b|>: this is one token; give -s once for each token" bpe-chunk -s '<|a|>,<|b|>'
fails 64 "*-s <|pad|>=5: training assigns the ids; leave out =5" bpe train -v 300 -s '<|pad|>=5'
fails 64 "*--add-special \[PAD\]=12: training assigns*" bpe-merge -v 300 --add-special='[PAD]=12'
is "$(docs 'p<s>=q<s>=xr' -s '<s>=' -s '<s>=x')" $'p\nq\nr' "an equals sign before anything but a number is part of the token"
is "$(docs 'one<|endoftext|>two' --no-special)" "one<|endoftext|>two" "--no-special: nothing is special"
is "$(docs 'one<|endoftext|>two<s>x' -s '<s>' 2>err)" $'one<|endoftext|>two\nx' "-s replaces the default"
is "$(docs 'p<s>q</s>r<t>s' -s '<s>' -s '</s>' -s '<t>')" $'p\nq\nr\ns' "several tokens"
is "$(docs 'p<s>q' -s '<s>' -s '<s>')" $'p\nq' "the same token twice"
is "$(docs 'paaaqaa' -s aa)" $'aq\np' "a token that overlaps itself matches from the left"
is "$(docs 'p<a>bq<a>r' -s '<a>' -s '<a>b')" $'p\nq\nr' "of two tokens, the longer if one is a prefix of the other"
is "$(docs 'xaby' -s ab -s b -s a)" $'x\ny' "short tokens inside a long one"
is "$(docs 'x\n\n\ny' -s $'\n\n')" $'\\ny\nx' "a token of newlines"
is "$(docs 'x<|endoftext|><|endoftext|>')" "x" "empty documents are not counted"
is "$(docs '' )" "" "empty text has no documents"

# ---- -s replaces the default, which is in the text ----

remark="bpe-chunk: the text has <|endoftext|>, which is not named by -s, so it is counted as text;"
remark="$remark add -s '<|endoftext|>' if documents end with it"
is "$(cat err)" "$remark" "  with a warning if the text has it"

# remarks WANT NAME ARGS...: bpe-chunk ARGS must exit with 0 and print WANT.
remarks() {
    local want=$1 name=$2
    shift 2
    bpe-chunk "$@" >chunks 2>err
    is "$? $(cat err)" "0 $want" "$name"
}

{ head -c 60000 /dev/zero | tr '\0' a; printf '<|endoftext|>'; head -c 100000 /dev/zero | tr '\0' b; } >early.txt
{ head -c 100000 /dev/zero | tr '\0' a; printf '<|endoftext|>\nb'; head -c 99985 /dev/zero | tr '\0' b; } >late.txt
printf 'one<s>two' >without.txt
zstd -q late.txt
remarks "$remark" "a warning for the start of a file" -s '<s>' without.txt early.txt
remarks "$remark" "one warning for two files" -s '<s>' early.txt early.txt
remarks "$remark" "a warning for text that is read near a cut" -s '<s>' -b 99000 late.txt
remarks "" "no warning for text that is not read" -s '<s>' late.txt
remarks "$remark" "a warning for any text by value" -s '<s>' --inline late.txt
remarks "$remark" "a warning for a compressed file" -s '<s>' -s '<t>' late.txt.zst
remarks "$remark" "a warning if special tokens can overlap, so that all text is read" -s aa late.txt
remarks "" "no warning for a text without it" -s '<s>' without.txt
remarks "" "no warning without -s" early.txt
remarks "" "no warning with --no-special" --no-special early.txt
remarks "" "no warning if the default is among the tokens" -s '<s>' -s '<|endoftext|>' early.txt
remarks "" "no warning if it is part of one" -s '<|endoftext|>b' early.txt

random_seed
python3 -B "$TOP/tests/cli/special.py" "$SEED" "$(sanitized && echo 100 || echo 600)"
ok $? "random tokens and texts, cut everywhere, equal Python's (seed $SEED)"

done_testing
