# shellcheck shell=sh
# quoted.sh - for ssh/ and slurm/: quotes words for a shell

# quoted WORD: prints WORD quoted as a single word, whatever characters it contains.
quoted() {
    printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"
}
