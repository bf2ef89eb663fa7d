# shellcheck shell=bash disable=SC2034,SC2154 # what the caller has and reads
# remote.sh - the part of pipelines/upload that calls rclone: what the remote has, and trying again when it fails
#
# The caller has $to, the remote; $dir, for files; $transfers, $retries and $download, the options; $lock, the descriptor
# of a lock that rclone shall hold as long as it runs; and is_done, which grows as long as files arrive.

export RCLONE_INPLACE=true                                     # no files .partial stay behind after a kill
export RCLONE_S3_UPLOAD_CUTOFF="${RCLONE_S3_UPLOAD_CUTOFF-5G}" # in one part: so that S3 itself has the MD5
child='' reason='' leash=() # before rclone: it dies with this script then, even if that is killed
! setpriv --pdeathsig KILL true 2>/dev/null || leash=(setpriv --pdeathsig KILL --)
stats=()
[ ! -t 2 ] || stats=(--stats 1s --stats-one-line --stats-log-level NOTICE) # for the caller's line of progress

# nap SECONDS: without the lock, which sleep would hold if this script is killed.
nap() {
    sleep "$1" {lock}>&- &
    child=$!
    wait "$child"
    child=
}

# run_rclone ARGUMENT...: its output is in $dir/out, what it says in $dir/log.
run_rclone() {
    local code
    "${leash[@]}" rclone --retries 1 "$@" >"$dir/out" 2>"$dir/log" </dev/null &
    child=$!
    { wait "$child"; } 2>/dev/null # bash would say that it was killed
    code=$?
    child=
    return "$code"
}

# The first error that rclone names, as later ones only count; on one line.
why() {
    local line
    line=$(grep -av -e 'Attempt [0-9]*/[0-9]* failed' -e 'NOTICE: Config file ' "$dir/log" | grep -a -m 1 -E 'ERROR|CRITICAL|Failed|Fatal|rror') || line=$(tail -n 1 "$dir/log")
    line=$(sed -E 's/^[0-9/]+ [0-9:]+ //; s/^(ERROR|CRITICAL|NOTICE) *: //; s/^: //; s/[[:cntrl:]]+/ /g' <<<"$line" | cut -c 1-600)
    printf '%s' "${line:-rclone ended and does not say why}"
}

# remote ARGUMENT...: rclone; if it fails, the reason is in `reason`. A new one takes a directory of S3 about which it gets
# an error as answer for a file, and complains of that; without filters it says what the error was.
remote() {
    local code
    run_rclone "$@"
    code=$?
    ((code)) || return 0
    ! is_full "$dir" || cannot_store "$heard"
    if ((code > 128)); then
        reason='rclone was killed'
        return "$code"
    fi
    reason=$(why)
    case $reason in
    *"can't limit to single files"* | *"is a file not a directory"*) run_rclone lsf --max-depth 1 "$to" || reason=$(why) ;;
    esac
    return "$code"
}

# What trying again does not mend.
is_final() {
    case $reason in
    *"didn't find section in config file"* | *"didn't find backend called"* | *"unknown flag"*) die 64 "$to: $reason" ;;
    esac
    [[ $reason =~ AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|Forbidden|(^|[ :])40[13]([^0-9]|$) ]]
}

# persist FUNCTION: calls it until it succeeds. As long as files arrive, all is well.
persist() {
    local tried=0 pause=1 had
    while had=${#is_done[@]} && ! "$1"; do
        ((${#is_done[@]} == had)) || tried=0 pause=1
        ! is_final || die 74 "$to: $reason"
        ((tried++ < retries)) || die 74 "$to: $reason (tried $tried times)"
        nap "$pause"
        pause=$((pause * 2 < 60 ? pause * 2 : 60))
    done
}

# put_list NAME...: into the list that rclone reads.
put_list() {
    { printf '%s\n' "$@" >"$dir/list"; } 2>&"$messages" || { hear && cannot_store "$heard"; }
}

# list NAME...: what the remote has of them: there_size and there_hash by name.
declare -A there_size there_hash
kept=none type=md5 # the checksum that the remote keeps of its files, and the one by which they are compared
list() {
    local size hash name format=sp
    there_size=() there_hash=()
    put_list "$@"
    [ "$kept" = none ] || format=shp
    remote lsf -R --files-only --format "$format" --separator $'\t' --hash "$type" --no-traverse --files-from-raw "$dir/list" "$to"
    case $? in
    0) ;;
    3) : >"$dir/out" ;; # there is no such directory, or bucket, yet
    *) return 1 ;;
    esac
    while IFS= read -r size; do # tabs are white space to read, and would be one where a field is empty
        name=${size#*$'\t'} size=${size%%$'\t'*} hash=''
        [ "$kept" = none ] || hash=${name%%$'\t'*} name=${name#*$'\t'}
        there_size[$name]=$size
        case $hash in UNSUPPORTED | ERROR) ;; *) there_hash[$name]=$hash ;; esac
    done <"$dir/out"
}

# read_back NAME...: their checksums in there_hash, from their bytes. 1: not all of them could be read.
read_back() {
    local hash name
    put_list "$@"
    remote hashsum "$type" --download --checkers "$transfers" --files-from-raw "$dir/list" "$to"
    local code=$?
    while read -r hash name; do
        there_hash[$name]=$hash
    done <"$dir/out"
    return "$code"
}

# copy NAME...: whatever is there under these names. Of the same size and damaged is what rclone might skip: -I.
copy() {
    put_list "$@"
    remote copy "${stats[@]}" -I --no-traverse --transfers "$transfers" --checkers "$transfers" --files-from-raw "$dir/list" "$from" "$to"
}

# Sets kept and type.
ask_features() {
    local has kind
    remote backend features "$to" || return
    has=$(tr -d ' \t\n' <"$dir/out" | sed -nE 's/.*"Hashes":\[([^]]*)\].*/,\1,/p')
    [ -z "$download" ] || return 0
    for kind in md5 sha1 sha256 sha512 blake3 quickxor dropbox hidrive mailru whirlpool; do
        case $has in *",\"$kind\","*)
            kept=$kind type=$kind
            break
            ;;
        esac
    done
}
