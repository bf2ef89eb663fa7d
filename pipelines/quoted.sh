# shellcheck shell=sh
# quoted.sh - for ssh/ and slurm/: words that a shell is to read

# quoted WORD: as one word, whatever is in it.
quoted() {
    printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"
}
