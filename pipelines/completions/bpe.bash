# shellcheck shell=bash
# bpe.bash - completion for bpe and the programs bpe-*, in bash. The candidates come from `bpe complete`.

_bpe() {
    local words=() prefix="" value word i
    local -a found patterns
    # Readline splits words at = and :, which bpe words may contain.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 1)) && [[ $word == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    value=${words[-1]}
    [[ $value != --*=* ]] || prefix=${value%%=*}= value=${value#*=}
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        case $word in
            :files*)
                compopt -o filenames
                read -ra patterns <<<"${word#:files}"
                for word in "${patterns[@]}"; do
                    mapfile -t found < <(compgen -f -X "!$word" -- "$value")
                    COMPREPLY+=("${found[@]}")
                done
                # Without a match, offer any file.
                if ((${#COMPREPLY[@]})); then
                    mapfile -t found < <(compgen -d -- "$value")
                else
                    mapfile -t found < <(compgen -f -- "$value")
                fi
                COMPREPLY+=("${found[@]}")
                ;;
            :directories)
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -d -- "$value")
                ;;
            :commands) mapfile -t COMPREPLY < <(compgen -c -- "$value") ;;
            *) COMPREPLY+=("${word#"$prefix"}") ;;
        esac
    done < <(command bpe complete "${words[@]}" 2>/dev/null)
    [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace
    fi
}

complete -F _bpe bpe bpe-chunk bpe-count bpe-sum bpe-merge bpe-encode bpe-decode bpe-shard bpe-model bpe-view
