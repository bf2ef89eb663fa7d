#!/bin/bash
# bpe tasks: tasks run any number of times, in any order, on the same directory give the model and the shards of the plain pipeline.
# Tasks that were killed, lost or failed are reported, and only these are run again.
# shellcheck disable=SC2012,SC2119
in_memory=1
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/deaths.sh"
random_seed
tasks() { bpe tasks "$@"; }

text 1 1000000 >one
for _ in {1..40}; do cat one; done >'a b.txt'
text 2 300000 | gzip >c.gz
text 3 300000 | gzip >d.gz
line 'a b.txt' c.gz d.gz >want.json
bpe-chunk -m want.json 'a b.txt' c.gz d.gz | bpe-encode -m want.json --eot=after | bpe-shard -n 1M -o want >/dev/null
files=('a b.txt' c.gz d.gz)

# ---- Counting ----

tasks plan --tasks=3 -o D "${files[@]}" >out 2>err
is "$? $(cat out err) $(tasks todo D | tr '\n' ' ')$(tasks todo --ranges D)" "0 D: 3 tasks: 0 to 2 0 1 2 0-2" "plan: three tasks"
tasks plan --tasks=3 -o D "${files[@]}" >out
is "$? $(cat out)" "0 D: 3 tasks: 0 to 2" "plan: the same again"
fails 64 "bpe tasks: D was begun with:  -- 'a b.txt' 'c.gz' 'd.gz'; give the same options and files, or *" tasks plan -o D -p cl100k "${files[@]}"
fails 64 "bpe tasks: D was begun with: *" tasks plan -o D c.gz
refuses 75 "bpe tasks: D: 3 of 3 tasks have no result; run those that bpe tasks todo lists" tasks train D -v 1000
(mkdir elsewhere && cd elsewhere && tasks run ../D 1)
is "$? $(tasks todo --ranges D)" "0 0,2" "run: a task, from another directory"
is "$(ls D/counts)" part.00001 "  its result"
cp D/counts/part.00001 first
tasks run D 1
same first D/counts/part.00001 "a task with a result is not done again"
tasks todo D | shuffle | xargs -n 1 -P 2 bpe tasks run D
tasks train D -v 1000 -o got.json
is "$? $(tasks todo D)$(tasks todo --ranges D)" "0 " "all tasks and train succeed"
same want.json got.json "  with the model of the plain pipeline"
tasks train D -v 300 >small.json
bpe-merge -v 300 D/sum | cmp - small.json
ok $? "train again with another vocabulary size"
bpe train --keep=D -v 1000 "${files[@]}" | cmp - want.json
ok $? "bpe train --keep accepts the directory"

# The same task several times at once, as speculative engines run it; a task that is run again.
rm -r D/sum D/counts/*
for _ in 1 2 3; do tasks run D 0-2 & done
wait
is "$(ls D/counts | tr '\n' ' ')" "part.00000 part.00001 part.00002 " "the same tasks at the same time: one result each"
rm D/counts/part.00002
tasks run D 0-2
tasks train D -v 1000 | cmp - want.json
ok $? "  with the same model"

rm D/sum
for i in 1 2 3; do
    tasks train D -v 1000 >"at-once.$i" &
done
wait
cat at-once.[123] | cmp - <(cat want.json want.json want.json)
ok $? "three trains at the same time"

# The worker is killed, or the command.
mkdir killed slow
printf '#!/bin/bash\n/usr/bin/env -S kill -9 $$\n' >killed/bpe-count
printf '#!/bin/bash\necho $$ >>%q/started\nexec sleep 60\n' "$PWD" >slow/bpe-count
chmod +x killed/bpe-count slow/bpe-count
beside killed
beside slow
rm -r D/sum D/counts/*
PATH=$PWD/killed:$PATH bpe tasks run D 0 2>err
is "$? $(ls D/counts) $(cat err)" "75  bpe tasks: D: task 0: a process was killed; run it again" "the worker is killed: exit 75"
PATH=$PWD/slow:$PATH bpe tasks run D 0 2>/dev/null &
for _ in $(seq 200); do [ -e started ] || sleep 0.05; done
kill $!
wait $!
is $? 143 "the command gets a signal"
for _ in $(seq 100); do kill -0 "$(<started)" 2>/dev/null && sleep 0.05; done
kill -0 "$(<started)" 2>/dev/null
is $? 1 "  its worker ends with it"
rm started
PATH=$PWD/slow:$PATH setsid bpe tasks run D 0 2>/dev/null &
for _ in $(seq 200); do [ -e started ] || sleep 0.05; done
kill -9 $! "$(<started)"
wait $! 2>/dev/null
is "$(tasks todo --ranges D)" 0-2 "after kill -9 there is no result"
tasks run D 0-2 && tasks train D -v 1000 | cmp - want.json
ok $? "  run again: the same model"
is "$(ls D/counts | tr '\n' ' ')" "part.00000 part.00001 part.00002 " "  files of killed attempts are removed"

# Bad text; a file that changes; damaged counts.
printf 'x\n\xe9' >bad.txt
tasks plan -o B 'a b.txt' bad.txt
fails 65 "bpe-count: bad.txt: byte 2: invalid UTF-8 (0xE9); see --invalid" tasks run B "$(tasks todo --ranges B)"
refuses 65 "bpe-count: bad.txt: byte 2: invalid UTF-8 (0xE9); see --invalid" tasks train B -v 1000
cp 'a b.txt' changing
tasks plan -o C changing >out
touch -d 2001-01-01 changing
fails 65 "*changing*changed*" tasks run C 0
fails 65 "bpe tasks: changing: changed since C was begun; *" tasks plan -o C changing
rm D/sum
head -c 50000 D/counts/part.00000 >torn && mv torn D/counts/part.00000
tasks train D -v 1000 >out 2>err
like "$? $(cat out) $(cat err)" "[67]5  bpe-sum: part.00000: *; remove that file from D/counts, or all of D, and run the same command again" "damaged counts: no model"

# A failure does not matter after a successful attempt.
cp 'a b.txt' comes
tasks plan --tasks=2 -o Z comes
mv comes gone
fails 66 "bpe-count: comes: *" tasks run Z 0
fails 66 "bpe-count: comes: *" tasks train Z -v 300
mv gone comes
tasks run Z 0
is "$? $(ls -A Z/counts)" "0 part.00000" "a failed task is run again"
fails 75 "bpe tasks: Z: 1 of 2 tasks have no result; *" tasks train Z -v 300

# shellcheck disable=SC2016
# with_stub NAME LINE COMMAND...: runs the command with program NAME replaced by the bash command LINE, except for NAME -h.
with_stub() {
    rm -rf stub
    mkdir stub
    printf '#!/bin/bash\n[ "$1" != -h ] || exec %q "$@"\n%s\n' "$(command -v "$1")" "$2" >"stub/$1"
    chmod +x "stub/$1"
    beside stub
    PATH=$PWD/stub:$PATH "${@:3}"
}

tasks run Z 1
touch Z/.sum.new.other
fails 75 "bpe tasks: bpe-sum was killed; run the same command again" with_stub bpe-sum 'kill -9 $$' tasks train Z -v 300
if ! sanitized; then # fault.so does not work with sanitizers
    fails 74 "bpe tasks: Z/.sum.new.*: cannot *: No space left on device" at_call fdatasync 1 28 bpe tasks train Z -v 300
    at_call fdatasync 1 -1 bpe tasks train Z -v 300 >out 2>/dev/null
    is "$? $(cat out) $(ls Z | tr '\n' ' ')" "137  chunks counts lock " "killed before the sum is complete"
    rm Z/.sum.new.[^o]*
fi
fails 74 "*no room*" with_stub bpe-sum 'echo no room >&2; exit 74' tasks train Z -v 300
ok "$([ -e Z/.sum.new.other ]; echo $?)" "  temporary files of other processes are kept"
rm Z/counts/part.00000
if ! sanitized; then # fault.so does not work with sanitizers
    fails 74 "bpe tasks: Z/counts/.part.00000.new.*: cannot *: No space left on device" at_call fdatasync 1 28 bpe tasks run Z 0
fi
fails 74 "*no room*" with_stub bpe-sum 'echo no room >&2; exit 74' tasks run Z 0
is "$(ls -A Z/counts)" part.00001 "  without a result or a temporary file"
if ! sanitized; then # fault.so does not work with sanitizers
    for call in "fdatasync 2 74" "mkdir 2 73" "rename 1 73"; do
        read -r call number code <<<"$call"
        fails "$code" "bpe tasks: *: No space left on device" at_call "$call" "$number" 28 bpe tasks plan -o roomless comes
        is "$(ls -A roomless)" lock "  without a plan"
        rm -r roomless
    done
fi
if [ -e /dev/full ]; then
    tasks todo Z >/dev/full 2>err
    is "$? $(wc -l <err)" "74 1" "no space for the list of tasks"
fi
bpe train --keep=K -v 300 comes >/dev/null
touch K/counts/.part.00000.new.other
rm K/counts/part.00000 K/sum
with_stub bpe-count 'kill -9 $$' bpe train --keep=K -v 300 comes >/dev/null 2>&1
is "$? $(ls K/counts/.*.other)" "75 K/counts/.part.00000.new.other" "train --keep also keeps temporary files of others"
bpe train --keep=K -v 300 comes >/dev/null
is "$? $(ls -A K/counts)" "0 part.00000
part.00001" "  until everything is counted"
if ! sanitized; then # fault.so does not work with sanitizers
    fails 71 "bpe tasks: Z: cannot be locked: Function not implemented" \
        at_call flock 1 38 bpe tasks plan --tasks=2 -o Z comes
fi

# A failure of the Parquet reader.
mkdir -p of_parquet/{bin,libexec/bpetools}
cp "$BUILD/bpe" of_parquet/bin
ln -s "$BUILD"/bpe-* of_parquet/bin
printf '#!/bin/bash\ncat comes && [ ! -e damaged ] || { echo "bpe parquet: x.parquet: damaged" >&2; exit 65; }\n' >of_parquet/libexec/bpetools/parquet
chmod +x of_parquet/libexec/bpetools/parquet
touch x.parquet damaged
of_parquet/bin/bpe tasks plan -o P --parquet x.parquet
fails 65 "bpe parquet: x.parquet: damaged" of_parquet/bin/bpe tasks run P 0
fails 65 "bpe parquet: x.parquet: damaged" of_parquet/bin/bpe tasks train P -v 300
rm damaged
of_parquet/bin/bpe tasks run P 0
of_parquet/bin/bpe tasks train P -v 300 | cmp - <(V=300 line comes)
ok $? "Parquet that is no longer damaged"

# Names of directories that are special in a shell, and more tasks than paths would fit into a command line.
for name in 'e&c' -x "it's" 'a b'; do
    tasks plan --tasks=2 -m want.json -o "./$name" comes
    tasks run "./$name" 0-1
    tasks shard "./$name" -o "./$name.shards" >/dev/null
    is $? 0 "tasks in $name"
done
tasks plan --tasks=2 -o -x comes 2>err
is "$?" 64 "  a directory that is in use"
is "$(CDPATH=. tasks todo --ranges B 2>&1)" "$(tasks todo --ranges B)" "CDPATH is ignored"
rm -f Z/sum Z/counts/part.00000
tasks run Z 0
# shellcheck disable=SC2016
with_stub bpe-sum 'echo "$1 $TMPDIR" >&2; exit 74' env TMPDIR=here bpe tasks train Z -T there -v 300 2>err
is "$? $(cat err)" "74 --temp=$PWD/there $PWD/here" "directories for temporary files are relative to the current directory"
for place in worker where chunk parquet part.00000; do # a pipe in place of a file must not block
    rm -rf pipes && cp -r Z pipes && rm -f pipes/counts/part.00000 "pipes/chunks/$place"
    mkfifo "pipes/chunks/$place"
    fails 73 "bpe tasks: *pipes/chunks/$place: is not a regular file; *" timeout -k 1 20 bpe tasks run pipes 0
done
deep=$PWD/$(printf 'd%.0s' {1..120})
mkdir -p "$deep"/{chunks,counts}
cp Z/chunks/{worker,chunk,parquet,where,asked,inputs} "$deep/chunks"
(cd "$deep/chunks" && touch part.{00000..19999} && cd ../counts && seq 20000 | split -l 1 -d -a 5 - part.)
with_stub bpe-sum '[ $# = 20000 ] && exit 75' tasks train "$deep" -v 300 2>err
is $? 75 "20000 tasks in a directory with a long name"
bpe train -v 1000 -o got.json "${files[@]}" <&-
is "$? $(cmp got.json want.json)" "0 " "standard input may be closed"

# A single compressed file, whose text goes through a pipe.
tasks plan -o G c.gz
tasks run -j 2 G 0
tasks train G -v 1000 | cmp - <(line c.gz)
ok $? "one compressed file"

# Special tokens and the pattern, as in the pipeline and in bpe train --keep.
printf 'a b<sep>a b<sep>a b' >separated
bpe tasks plan -o special -s '<sep>' -p cl100k separated
bpe tasks run special "$(bpe tasks todo --ranges special)"
bpe tasks train special -v 258 >got.json
bpe-chunk -s '<sep>' -p cl100k separated | bpe-count | bpe-sum | bpe-merge -v 258 | cmp - got.json
ok $? "-s and -p, without a model"
bpe train --keep=special -v 258 -s '<sep>' -p cl100k separated | cmp - got.json
ok $? "  the same with train --keep"
fails 64 "bpe tasks: special was begun with: *" bpe tasks plan -o special separated
refuses 64 "bpe tasks: --special is for encoding; give -m MODEL" bpe tasks plan -o unmade --special=text separated

# ---- Encoding ----

tasks plan --tasks=3 -m want.json --eot=after -o E "${files[@]}"
fails 75 "bpe tasks: E: 3 of 3 tasks have no result; *" tasks shard E -o S -n 1M
tasks todo E | shuffle | xargs -n 1 -P 2 bpe tasks run E
tasks run E 0-2
tasks shard E -o S -n 1M >lines
diff -r want S
ok $? "the shards of the plain pipeline"
is "$(wc -l <lines)" "$(find S -name '*.npy' | wc -l)" "  a line for each shard"
fails 0 "bpe-shard: */S: is already complete" tasks shard E -o S -n 1M
fails 64 "bpe tasks: E: its tasks make tokens; use bpe tasks shard" tasks train E -v 1000
fails 64 "bpe tasks: D: its tasks make counts; use bpe tasks train" tasks shard D -o S
fails 64 "bpe tasks: c.gz: its text can only be piped, so bpe tasks cannot encode it; see bpe shard --via" \
    tasks plan -m want.json -o F c.gz

# ---- A directory from an attacker: nothing in it may become another program, or an option that does not belong to the work ----

# hostile DIR FILE WORD...: copies DIR, with these words in chunks/FILE. The file victim must not change.
hostile() {
    rm -rf hostile
    cp -r "$1" hostile
    printf '%s\0' "${@:3}" >"hostile/chunks/$2"
    echo mine >victim
}
is_refused() { # WORD COMMAND...: must be refused because of WORD
    refuses 65 "bpe *: *hostile/chunks/*: $1: unexpected contents; plan the work again, in another directory" "${@:2}"
    is "$(cat victim) $(ls hit 2>/dev/null)" "mine " "  without an effect"
}
cat >hit.sh <<END
#!/bin/sh
touch '$PWD/hit'
END
chmod +x hit.sh
tasks plan --tasks=2 -m want.json --eot=after -o encodes comes
tasks plan --tasks=2 -o counts comes
tasks plan -o piped c.gz
[ -e piped/chunks/file.00000 ]
ok $? "piped has a file whose text goes through a pipe"
for words in "-o victim" "--output=victim" "-ovictim" "--outp=victim" "-m" "--format=raw" "-f raw -o victim" "--files-from=victim" "-- x" "x" "-"; do
    # shellcheck disable=SC2086
    hostile encodes worker bpe-encode --model=want.json $words
    is_refused "'${words%% *}'" tasks run hostile 0
done
for words in ./hit.sh "$PWD/hit.sh" sh env bpe-merge bpe-view '' "bpe-encode x" "bpe-count "; do
    hostile counts worker "$words"
    is_refused "'$words'" tasks run hostile 0
    is_refused "'$words'" tasks todo hostile
    is_refused "'$words'" tasks train hostile -v 300
    is_refused "'$words'" tasks shard hostile -o hostile.out
done
for words in "--temp=x" "-o victim" "--partial" "-S 1M" "x" "-"; do
    # shellcheck disable=SC2086
    hostile counts worker bpe-count $words
    is_refused "'${words%% *}'" tasks run hostile 0
done
for words in "--only=victim" "--files-from=victim" "--files0-from=victim" "-m" "-e" "-bx" "--nope" "--" "x" "-"; do
    # shellcheck disable=SC2086
    hostile piped chunk $words
    is_refused "'${words%% *}'" tasks run hostile 0
done
for words in "--list" "--part=0/2" "-c text" "-h" "x" "--"; do
    # shellcheck disable=SC2086
    hostile piped parquet --column=text $words
    is_refused "'${words%% *}'" tasks run hostile 0
done
for words in '' . .. elsewhere -x "- x"; do
    hostile counts where "$words"
    is_refused "'$words'" tasks run hostile 0
done
hostile counts where "$PWD" "$PWD"
is_refused "'$PWD'" tasks run hostile 0
for words in '' - "$stdin" /proc/self/environ; do
    hostile piped file.00000 "$words"
    is_refused "'$words'" tasks run hostile 0
done
hostile piped file.00000 c.gz victim
is_refused "'victim'" tasks run hostile 0
hostile piped file.00000 s3://bucket/c.gz
refuses 66 "bpe tasks: s3://bucket/c.gz: cannot open: No such file or directory" tasks run hostile 0
for name in part.0x part. file.-1 part.00000.new; do
    hostile counts "$name" x
    is_refused "'$name'" tasks run hostile 0
done
hostile counts worker bpe-count
rm hostile/chunks/where
fails 74 "bpe tasks: hostile/chunks/where: cannot be read*" tasks run hostile 0
# train --keep uses the command line, except for the names of parts.
bpe train --keep=kept -v 300 c.gz >/dev/null
rm kept/sum kept/counts/*
hostile kept file.00000 victim
fails 65 "bpe train: hostile/chunks/file.00000: 'victim': unexpected contents; *" bpe train --keep=hostile -v 300 c.gz
mv hostile/chunks/file.00000 hostile/chunks/file.x
fails 65 "bpe train: hostile/chunks/: 'file.x': unexpected contents; *" bpe train --keep=hostile -v 300 c.gz
# For all options of plan, run accepts the words that plan has written.
bpe-model -f tiktoken -o want.tiktoken want.json
rm want.tiktoken.json
for options in '--pattern=cl100k' '--regex=\p{L}+' '-s x -s y' --no-special '-b 1M' --inline --jsonl=a --jsonl '-0 --invalid=skip' --wet \
    '--jsonl --id=a --on-error=skip' '-m want.json --dtype=u32 --eot=before --eot-token=<|endoftext|>' \
    '-m want.json --special=text --invalid=replace' '-m want.tiktoken -s <|endoftext|>=0 -p gpt2' '-0 -m want.json'; do
    rm -rf planned
    # shellcheck disable=SC2086
    tasks plan $options -o planned comes "$(case $options in -m* | -0\ -m*) echo separated ;; *) echo d.gz ;; esac)" 2>err && tasks run planned 0 >/dev/null 2>>err
    code=$?
    case "$code $(cat err)" in *"unexpected contents"* | 64*) ok 1 "plan $options" || sed 's/^/# /' err ;; *) ok 0 "plan $options" ;; esac
done
refuses 64 "bpe tasks: --format: leave it out; tasks make records" tasks plan -m want.json -f raw -o unmade comes

# ---- Usage errors ----

fails 64 "bpe tasks: missing plan, todo, run, train or shard; see --help" tasks
for option in --files-from --files0-from; do
    fails 64 "bpe tasks: $option: bpe tasks needs the names of the files; give them as FILEs" bpe tasks plan -o named $option=list
    fails 64 "named: $option: bpe tasks needs the names of the files; give them as FILEs" bpe tasks split train named -v 300 -o m.json $option=list
done
fails 64 "bpe tasks: walk: must be one of plan, todo, run, train, shard, split; see --help" tasks walk
fails 64 "bpe tasks: missing -o DIR (directory of the work); see --help" tasks plan c.gz
fails 64 "bpe tasks: --tasks=0: must be from 1 to 20000" tasks plan --tasks=0 -o H c.gz
fails 64 "bpe tasks: --eot is for encoding; give -m MODEL" tasks plan --eot=after -o H c.gz
fails 64 "bpe tasks: standard input: cannot be read again, so bpe tasks could not resume *" tasks plan -o H -
fails 66 "bpe tasks: none: cannot open: *" tasks plan -o H none
tasks run E
is $? 0 "run without a task, if none is left"
rm E/tokens/part.00001
fails 64 "bpe tasks: missing TASK; bpe tasks todo lists the tasks" tasks run E
# Pipes in DIR must not block, and no program in the directory where it was planned is run.
tasks plan -o X --tasks=2 comes
rmdir X/counts
tasks run X 0
is "$? $(ls X/counts)" "0 part.00000" "a missing directory of results is created"
mkfifo X/counts/part.00001.failed
fails 73 "bpe tasks: X/counts/part.00001.failed: is not a regular file; *" timeout -k 1 20 bpe tasks train X -v 300
tasks plan -o Y -m want.json --tasks=2 comes
mkfifo Y/tokens/part.0000{0,1}
fails 73 "bpe tasks: Y/tokens/part.0000[01]: is not a regular file; *" timeout -k 1 20 bpe tasks shard Y -o shards
mkdir -p evil/pipelines
printf '#!/bin/sh\necho evil >>%q/evil.log\n' "$PWD" | tee evil/parquet >evil/pipelines/parquet
chmod +x evil/parquet evil/pipelines/parquet
mkdir -p V/chunks V/counts
cp X/chunks/{asked,inputs,chunk} V/chunks
printf 'bpe-count\0' >V/chunks/worker
printf '%s\0' --column=text >V/chunks/parquet
printf '%s\0' "$PWD/evil" >V/chunks/where
printf 'text\0' >V/chunks/file.00000
touch evil/text
V=$PWD/V
(cd "$BUILD" && ./bpe tasks run "$V" 0; cd .. && "${BUILD##*/}/bpe" tasks run "$V" 0) >out 2>err
ok "$([ -e evil.log ]; echo $((! $?)))" \
    "a program in the planning directory is not run, even if bpe has a relative name" || sed 's/^/# /' err
like "$(cat err)" "bpe parquet: *" "  but the right program" || sed 's/^/# /' err
fails 64 "bpe tasks: 2-1: the range ends before it begins" tasks run E 2-1
mkdir 'a[1]'
tasks plan -o 'a[1]/' c.gz
is "$? $(find 'a[1]' -name 'file*')" "0 a[1]/chunks/file.00000" "a directory name that ends in a slash"
fails 64 "bpe tasks: 3: no such task; the tasks are 0 to 2" tasks run E 0-3
fails 64 "bpe tasks: x: not a task number or a range such as 0-3" tasks run E x
fails 66 "bpe tasks: none: has no work; create it with bpe tasks plan -o none" tasks todo none
fails 64 "bpe tasks: missing -v N (vocabulary size); see --help" tasks train D
fails 64 "bpe tasks: missing -o OUT (directory for the shards); see --help" tasks shard E
fails 64 "bpe tasks: unknown option --frobnicate; see --help" tasks plan --frobnicate -o H c.gz

# An attempt whose file was removed by a faster one still succeeds.
tasks plan --tasks=2 -o race comes >/dev/null
tasks run race 0
mv race/counts/part.00000 first
if ! sanitized; then # fault.so does not work with sanitizers
    # shellcheck disable=SC2034
    FAULT_RUN="cp '$PWD/first' '$PWD/race/counts/part.00000'; rm -f '$PWD'/race/counts/.part*" at_call link 1 -3 bpe tasks run race 0 >out 2>err
    is "$? $(cat out err) $(ls -A race/counts)" "0  part.00000" "an attempt whose file another process has removed"
    same first race/counts/part.00000 "  the other's result remains"
fi

# A corpus without text still makes a task.
: >empty.txt
for options in "" --inline; do
    rm -rf empty.work
    # shellcheck disable=SC2086
    tasks plan $options -o empty.work empty.txt >out
    tasks run empty.work 0
    tasks train empty.work -v 257 | cmp - <(V=257 line empty.txt)
    is "$? $(cat out) $(tasks todo empty.work)" "0 empty.work: 1 task: 0 " "a corpus without text $options"
    rm -rf empty.kept
    # shellcheck disable=SC2086
    bpe train --keep=empty.kept $options -v 257 empty.txt | cmp - <(V=257 line empty.txt)
    is $? 0 "  the same with train --keep"
done
for option in --missing=part.00000 --partial; do
    refuses 64 "bpe tasks: ${option%%=*}: leave it out; to do the rest, run the same command again" tasks train empty.work $option -v 257
done

# A model that changes is no longer the one that was planned.
cp want.json changes.json
tasks plan --tasks=2 -m changes.json -o models comes >/dev/null
tasks run models 0
cp small.json changes.json
refuses 65 "bpe tasks: changes.json: changed since models was begun; plan the work again, in another directory" tasks run models 1
refuses 65 "bpe tasks: changes.json: changed since models was begun; *" tasks plan --tasks=2 -m changes.json -o models comes
bpe-model -f gpt2 -o vocabulary want.json
tasks plan --tasks=2 -m vocabulary -o models2 comes >/dev/null
tasks run models2 0
is $? 0 "a model in a directory"
touch -d 2001-01-01 vocabulary/merges.txt
refuses 65 "bpe tasks: vocabulary/merges.txt: changed since models2 was begun; *" tasks run models2 1

# A file that has changed is an error that a retry cannot repair.
cp comes varies
tasks plan --tasks=2 -o vary varies >/dev/null
touch -d 2001-01-01 varies
fails 65 "bpe-count: varies: changed since bpe-chunk read it *; plan the work again, in another directory" tasks run vary 0

# A damaged sum, or one whose contents a file system has lost.
tasks plan --tasks=2 -o sums comes >/dev/null
tasks run sums "$(tasks todo --ranges sums)"
tasks train sums -v 300 >sums.json
: >sums/sum
tasks train sums -v 300 | cmp - sums.json
ok $? "an empty sum is made again"
truncate -s -1000 sums/sum
refuses 65 "bpe-merge: sums/sum: *; remove sums/sum, and run the same command again" tasks train sums -v 300

# A signal removes an attempt's temporary file; a result removes those of other attempts.
rm sums/counts/part.00000
rm -f started
PATH=$PWD/slow:$PATH bpe tasks run sums 0 2>/dev/null &
for _ in $(seq 200); do [ -e started ] || sleep 0.05; done
is "$(find sums/counts -name '.part.00000.new.*' | wc -l)" 1 "an attempt has a temporary file"
kill $!
wait $!
is "$(ls -A sums/counts)" part.00001 "  which SIGTERM removes"
touch sums/counts/.part.0000{0,1}.new.other
tasks run sums 0
is "$(ls -A sums/counts | tr '\n' ' ')" ".part.00001.new.other part.00000 part.00001 " "  a result removes files of other attempts at it"

# The output of todo --ranges is one argument for run.
tasks plan --tasks=5 -o five 'a b.txt' >/dev/null
tasks run five 1,3
is "$? $(tasks todo --ranges five)" "0 0,2,4" "run: several tasks in one argument"
tasks run five "$(tasks todo --ranges five)"
is "$? $(tasks todo five)" "0 " "  the output of todo --ranges"
fails 64 "bpe tasks: ,3: *" tasks run five 1,,3

# split: the words survive a shell unchanged, each for the right command.
words=$(bpe tasks split train 'bpe x' -v 300 -o "it's \$(touch hit).json" --min-count=2 -S 1M -s '<a b>' --jsonl=t.u -- 'a b' "$(printf 'c\nd')" '')
is $? 0 "split train"
# shellcheck disable=SC2154 # eval sets plan and finish
sh -c 'eval "$1"; eval "set -- $plan"; printf "[%s]" "$@"; echo; eval "set -- $finish"; printf "[%s]" "$@"' sh "$words" >out
is "$(cat out) $(ls hit 2>/dev/null)" "[--special-token=<a b>][--jsonl=t.u][--][a b][c
d][]
[--memory=1M][--vocab-size=300][--output=it's \$(touch hit).json][--min-count=2] " "  each option is for the right command"
words=$(bpe tasks split shard 'bpe x' -m m.json -o out -n 1M -f npy --eot=after -s '<a>=3' --id=x --jsonl a)
sh -c 'eval "$1"; eval "set -- $plan"; printf "[%s]" "$@"; echo; eval "set -- $finish"; printf "[%s]" "$@"' sh "$words" >out
is "$(cat out)" "[--model=m.json][--special-token=<a>=3][--jsonl][--eot=after][--id=x][--][a]
[--id=x][--output=out][--tokens=1M][--format=npy]" "split shard"
long=$(printf 'd%.0s/' {1..2400})m.json
like "$(bpe tasks split shard 'bpe x' -m "$long" -o out a)" "*--model=$long*" "  long arguments"
refuses 64 "bpe x: missing -o MODEL (the new model); see --help" bpe tasks split train 'bpe x' -v 300 a
refuses 64 "bpe x: --missing: leave it out; to do the rest, run the same command again" bpe tasks split train 'bpe x' -v 3 -o x --missing=y a
refuses 64 "bpe x: -v 5: *" bpe tasks split train 'bpe x' -v 5 -o x a
refuses 64 "bpe tasks: split: give train or shard, *" bpe tasks split

# Tasks have similar amounts of text, also with many small files, and with more tasks than pieces of the text.
# even DIR N: there must be N tasks, the largest with less than 1.5 times the text of the smallest.
even() {
    is "$(find "$1/chunks" -name 'part.*' | wc -l)" "$2" "$1: $2 tasks"
    for part in "$1"/chunks/part.*; do
        bpe-view "$part" | sed -n 's/.* pieces=//p' | tr ' ' '\n' | awk -F + '{ n += $2 } END { print n + 0 }'
    done | sort -n >texts
    ok $(($(head -n 1 texts) * 3 / 2 < $(tail -n 1 texts))) "  of similar size: $(tr '\n' ' ' <texts)"
}
for n in 2 3 4; do
    tasks plan --tasks=$n -o even.$n 'a b.txt' >/dev/null
    even even.$n $n
done
mkdir small
(cd small && split -C 1M ../comes part.)
tasks plan --tasks=3 -o many small/* >/dev/null
even many 3
tasks plan --tasks=20000 -o most 'a b.txt' >out
like "$(cat out)" "most: 1[0-9] tasks: 0 to *" "no more tasks than pieces"
for dir in many most; do
    tasks run $dir "$(tasks todo --ranges $dir)" && tasks train $dir -v 300 >$dir.json
done
V=300 line 'a b.txt' | cmp - many.json && cmp many.json most.json
ok $? "  with the same model"
done_testing
