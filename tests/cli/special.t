#!/usr/bin/env bash
# Special tokens end documents: leftmost match, the longest of several, wherever the text is cut for the workers.
. "$(dirname "$0")/../lib.sh"

# docs TEXT OPTION...: the documents of TEXT (as for printf), one a line, escaped and sorted.
docs() {
    local text=$1
    shift
    # shellcheck disable=SC2059
    printf "$text" | bpe-chunk -p bytes "$@" | bpe-count | bpe-sum | words | cut -f2
}

is "$(docs 'one<|endoftext|>two')" $'one\ntwo' "the default is <|endoftext|>"
is "$(docs 'one<|endoftext|>two' --no-special)" "one<|endoftext|>two" "--no-special: nothing is special"
is "$(docs 'one<|endoftext|>two<s>x' -s '<s>')" $'one<|endoftext|>two\nx' "-s replaces the default"
is "$(docs 'p<s>q</s>r<t>s' -s '<s>' -s '</s>' -s '<t>')" $'p\nq\nr\ns' "several tokens"
is "$(docs 'p<s>q' -s '<s>' -s '<s>')" $'p\nq' "the same token twice"
is "$(docs 'paaaqaa' -s aa)" $'aq\np' "a token that overlaps itself matches from the left"
is "$(docs 'p<a>bq<a>r' -s '<a>' -s '<a>b')" $'p\nq\nr' "the longer of two tokens where one is a prefix"
is "$(docs 'xaby' -s ab -s b -s a)" $'x\ny' "short tokens inside a long one"
is "$(docs 'x\n\n\ny' -s $'\n\n')" $'\\ny\nx' "a token of newlines"
is "$(docs 'x<|endoftext|><|endoftext|>')" "x" "empty documents count nothing"
is "$(docs '' )" "" "empty text counts nothing"

random_seed
python3 -B "$TOP/tests/cli/special.py" "$SEED" 600
ok $? "random tokens and texts, cut everywhere, equal Python's (seed $SEED)"

done_testing
