# shellcheck shell=bash disable=SC2034,SC2154
# model.sh - tasks: the options by which a model decides how text is split. They go to both programs, in
# the form that each has.

model='' specials=() as_text=''

# take_model OPTION [ARGUMENT]: 1 if it is none of these.
take_model() {
    case $1 in
    --model) model=$2 ;;
    --pattern)
        chunk+=(-p "$2")
        encode+=(-p "$2")
        ;;
    --special-token)
        [[ $2 =~ ^(.+)=[0-9]+$ ]] && specials+=(-s "${BASH_REMATCH[1]}") || specials+=(-s "$2")
        encode+=(-s "$2")
        ;;
    --special)
        as_text=
        [ "$2" != text ] || as_text=1
        encode+=("$1=$2")
        ;;
    *) return 1 ;;
    esac
}

# add_model: to the options in chunk and encode, when all are known.
add_model() {
    [ -n "$model" ] || die 64 "by which model? give -m MODEL; see --help"
    chunk=(-m "$model" "${chunk[@]}")
    encode=(-m "$model" "${encode[@]}")
    if [ -n "$as_text" ]; then chunk+=(--no-special); else chunk+=("${specials[@]}"); fi
}
