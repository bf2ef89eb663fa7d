#!/bin/bash
# The commands and recipes of pipelines/ make the model of the plain pipeline, and exit with its status.
# shellcheck disable=SC2012
. "$(dirname "$0")/../lib.sh"
P=$TOP/pipelines
export TMPDIR=$PWD/tmp # to check that nothing is left behind
mkdir tmp

text 1 60000 >a.txt
text 2 60000 >b.txt
text 3 60000 >c.txt
touch -d 2020-01-01 a.txt b.txt c.txt
line a.txt b.txt >plain.json || exit 1

# The ways to run the pipeline in parallel.
hows=(--fan-out={auto,xargs,none} '--via=split -n r/3 --filter="$*" #')
if command -v parallel >/dev/null; then
    hows+=(--fan-out=parallel '--via=parallel -q --pipe')
else
    skip "train --fan-out=parallel" "GNU parallel is not installed"
fi
printf 'caf\351' >latin1.txt
cat a.txt b.txt >ab.txt
bpe-chunk - <ab.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >stdin.json
bpe-chunk -p cl100k -s '<|endoftext|>' -s X a.txt | bpe-count | bpe-sum | bpe-merge -v 1000 --tie=lex -f merges >want.merges
for how in "${hows[@]}"; do
    train=(bpe train "$how")
    name="train $how"
    "${train[@]}" -v 1000 -j 2 a.txt b.txt >got.json
    is $? 0 "$name: succeeds"
    same plain.json got.json "$name: the model of the plain pipeline"
    "${train[@]}" -j 3 -v1000 -o got.json - < <(cat ab.txt)
    same stdin.json got.json "$name: standard input, -j, -o"
    "${train[@]}" -v 1k -p cl100k -s '<|endoftext|>' -s X -b 4K --tie=lex -f merges -S 1M a.txt >got.merges
    same want.merges got.merges "$name: options are passed to the right program"
    rm got.merges
    "${train[@]}" --vocab-size 1k --pattern cl100k --special-token '<|endoftext|>' --special-token=X --block=4K --tie lex --format=merges \
        --memory 1M --jobs 3 --output got.merges a.txt
    same want.merges got.merges "$name: long options, with the argument after = or in the next word"
    "${train[@]}" -v 1000 -j 2 none.txt >out 2>err
    is "$? $(cat out)" "66 " "$name: a missing file: exit 66, and no model"
    "${train[@]}" -v 1000 -j 2 latin1.txt >out 2>err
    like "$? $(cat err)" "65 bpe-*: latin1.txt: byte 3: invalid UTF-8 (0xE9); see --invalid" "$name: bad text: exit 65, and one line"
    "${train[@]}" -v 1000 -j 2 a.txt b.txt <&- | cmp - plain.json
    ok $? "$name: standard input is closed"
    "${train[@]}" -v 10 a.txt >out 2>err
    is $? 64 "$name: usage error of a program: exit 64"
done
fails 64 "bpe train: missing -v N (vocabulary size); see --help" bpe train a.txt
refuses 64 "bpe train: --only is for bpe-chunk: *" bpe train -v 300 --only=todo a.txt
fails 64 "bpe train: unknown option --frobnicate=1; see --help" bpe train -v 1000 --frobnicate=1 a.txt
fails 64 "bpe train: unknown option --version; see --help" bpe train -v 1000 --version
fails 64 "bpe train: unknown option -Z; see --help" bpe train -v 1000 -Z a.txt
fails 64 "bpe train: unknown option --version; see --help" bpe train -v 1000 --version a.txt
fails 64 "bpe train: option --inline takes no argument; see --help" bpe train -v 1000 --inline=yes a.txt
fails 64 "bpe train: option -v needs an argument; see --help" bpe train a.txt -v
fails 64 "bpe train: --fan-out slurm: must be one of auto, xargs, parallel, none" bpe train -v 1000 --fan-out=slurm a.txt
fails 64 "bpe train: --via: missing COMMAND" bpe train -v 1000 --via= a.txt
fails 64 "bpe train: --keep and --via cannot be combined; *" bpe train -v 1000 --via=false --keep=K a.txt
bpe train -v 1000 --via=false a.txt >out 2>err
is "$? $(cat out)" "75 " "train: a --via command that does nothing: exit 75, and no model"
is "$(cat err)" "bpe-sum: no records arrived: there was no input, or the program that should write them did not run; --via ended with status 1" "  and a message reports this"
bpe train -v 1000 --via='exit 64 #' a.txt >out 2>err
is "$? $(cat out)" "64 " "train: usage error of a --via command: exit 64"
bpe train -v 1000 --via="sh -c '\"\$@\"; \"\$@\" </dev/null' ''" a.txt b.txt | cmp - plain.json
ok $? "train --via: a command that starts two workers"
fails 64 "bpe train: -j 0: not a number of jobs" bpe train -v 1000 -j 0 a.txt
bpe train -v 1000 -- a.txt b.txt | cmp - plain.json
ok $? "train: -- ends the options"

# bpe train accepts every option that bpe-chunk, bpe-sum and bpe-merge list in their help.
unknown=
for program in bpe-chunk bpe-sum bpe-merge; do
    for option in $("$program" -h | sed -nE 's/^  (-.|   ),? (--[a-z0-9-]+(\[?=)?).*/\1 \2/p' | tr '[' ' '); do
        case $option in --help | --version | -h | =) continue ;; esac
        # shellcheck disable=SC2046
        bpe train "${option%=}" $([ "$option" = "${option%=}" ] || echo 1) -v 1 none.txt 2>&1 | grep -q 'unknown option' &&
            unknown+=" $option"
    done
done
is "$unknown" "" "train accepts every option of the programs"

# The programs that train calls: these wrappers log their calls.
mkdir called
for program in xargs parallel; do
    cat >called/$program <<END
#!/bin/sh
echo $program >>called.log
exec $(command -v $program) "\$@"
END
    chmod +x called/$program
done
picks() { # WANTED ARGS...
    local want=$1
    shift
    : >called.log
    PATH=$PWD/called:$PATH bpe train -v 1000 -o picked.json "$@" </dev/null 2>/dev/null
    is "$? $(cat called.log)" "0 $want" "train calls ${want:-neither}: ${*//"$PWD/"}"
}
gzip -k a.txt
picks "" -j 2 a.txt b.txt
picks xargs -j 2 --fan-out=xargs a.txt b.txt
picks parallel -j 2 --fan-out=parallel a.txt
picks "" -j 1 a.txt
picks "" -j 2 a.txt.gz
picks "" -j 2 --inline a.txt
picks "" -j 2 # standard input is empty
mkdir system # has the shell that --via needs, but no bash, Perl or GNU parallel
ln -s "$(readlink -f "$(command -v dash || command -v sh)")" system/sh
for how in "-j 2 a.txt.gz b.txt" "-j 1 a.txt b.txt" "--keep=alone.kept a.txt b.txt" "--via=exec a.txt b.txt"; do
    # shellcheck disable=SC2086
    (PATH=$PWD/system exec "$BUILD/bpe" train -v 1000 $how) | cmp - plain.json
    ok $? "train with only sh on PATH: $how"
done
fails 127 "bpe train: parallel is not installed, or not on PATH" env PATH="$PWD/system" "$BUILD/bpe" train -v 1000 --fan-out=parallel a.txt
mkdir perlless
ln -s "$(command -v parallel)" "$PWD/system/sh" perlless
fails 127 "bpe train: perl is not installed, or not on PATH" env PATH="$PWD/perlless" "$BUILD/bpe" train -v 1000 --fan-out=parallel a.txt
fails 127 "bpe train: python3 is not installed, or not on PATH" env PATH="$PWD/system" "$BUILD/bpe" train -v 1000 --parquet a.parquet
mkdir alone
ln -s "$BUILD/bpe-chunk" "$BUILD/bpe-sum" "$BUILD/bpe-merge" alone
cp "$BUILD/bpe" alone
fails 127 "bpe train: bpe-count is not installed, or not on PATH" env PATH="$PWD/system" alone/bpe train -v 1000 a.txt
is "$(ls -A tmp)" "" "train: leaves nothing behind"

# A signal to train ends the processes of the pipeline, also a bpe-count that would not end by itself.
mkdir slow
printf '#!/bin/sh\ntrap "echo ended >>ended; exit" HUP TERM\ncat >/dev/null\necho started >started\nwhile :; do sleep 0.1; done\n' >slow/bpe-count
chmod +x slow/bpe-count
beside slow
for how in "${hows[@]}"; do
    rm -f started ended
    PATH=$PWD/slow:$PATH bpe train -v 1000 -j 2 "$how" -o killed.json a.txt 2>/dev/null </dev/null &
    for _ in $(seq 100); do [ -e started ] || sleep 0.1; done
    kill $!
    wait $!
    is "$? $(ls killed.json* 2>/dev/null)" "143 " "train $how: ended by a signal: exit 143, and no model"
    for _ in $(seq 50); do [ -e ended ] || sleep 0.1; done
    is "$(head -n 1 ended)" ended "  its bpe-count ends, too"
done

vocab() {
    make -s -f "$P/vocab.mk" CORPUS='a.txt b.txt c.txt' V=1000 "$@"
}
counted() { # runs vocab.mk, and prints the files that it counts
    make -f "$P/vocab.mk" CORPUS='a.txt b.txt c.txt' V=1000 "$@" | sed -n 's/^bpe-chunk.* -- \([^ ]*\) .*/\1/p' | sort | tr '\n' ' '
}
line a.txt b.txt c.txt >three.json
vocab -j 2
is $? 0 "vocab.mk: succeeds"
same three.json tokenizer.json "vocab.mk: the model of the plain pipeline"
is "$(make -f "$P/vocab.mk" CORPUS='a.txt b.txt c.txt' V=1000 | grep -c '^bpe-')" 0 "vocab.mk: nothing left to do"
text 4 60000 >b.txt
is "$(counted)" "b.txt " "vocab.mk: only a file that changed is counted again"
line a.txt b.txt c.txt >three.json
same three.json tokenizer.json "vocab.mk: the model is that of the new text"
is "$(counted V=900)" "" "vocab.mk: for another V, nothing is counted again"
is "$(counted CHUNK='-p cl100k')" "a.txt b.txt c.txt " "vocab.mk: with other rules, everything is counted again"
make -s -f "$P/vocab.mk" CORPUS='a.txt c.txt' V=1000 CHUNK='-p cl100k'
bpe-chunk -p cl100k a.txt c.txt | bpe-count | bpe-sum | bpe-merge -v 1000 >two.json
same two.json tokenizer.json "vocab.mk: a file removed from the corpus is left out"
rm tokenizer.json
printf 'caf\351' >c.txt
vocab CHUNK='-p cl100k' >out 2>err
is $? 2 "vocab.mk: bad text fails"
is "$(ls tokenizer.json vocab.work/c.txt.counts.tmp 2>/dev/null)" "" "  without a model, whole or in part"
bpe-view --check vocab.work/c.txt.counts >/dev/null && bpe-view --check vocab.work/corpus.sum >/dev/null
ok $? "  the files that exist are complete"

if command -v parallel >/dev/null; then
    mkdir "$test_dir/demo"
    ln -s "$BUILD"/bpe-* "$test_dir/demo"
    MEGABYTES=4 VOCAB_SIZE=1000 BUILD=$test_dir/demo "$P/demo.sh" >out 2>err
    status=$?
    if [ $status -eq 66 ]; then
        skip "demo.sh" "no text found on this machine"
    else
        is $status 0 "demo.sh: succeeds"
        like "$(cat out)" "*vocabulary*tokens*bytes per token*longest*time*decoded from the ids: the same*encoded*MB/s*" \
            "demo.sh: prints the results"
        is "$(grep -v ^lscpu: err)" "" "demo.sh: no messages" # except from parallel, if /sys is missing
        grep -q '"version": "1.0"' demo/demo-tokenizer.json
        ok $? "demo.sh: writes the tokenizer"
    fi
fi

mkdir kept && vocab WORK=kept/counts OUT=kept/model.json >/dev/null 2>&1
is "$(ls -d counts 2>/dev/null)" "" "vocab.mk: no directory named counts"

# Engines: if the bpe command that they start first is killed, they print a line and exit with 75.
mkdir engines
cp -r "$P"/{ray,slurm,*.py} engines
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase "$*" in "shard --help") exec %q shard --help ;; upload*) exec sleep 20 ;; esac\n%s\n' "$BUILD/bpe" 'kill -9 $$' >engines/bpe
chmod +x engines/bpe
mkdir -p modules/ray # stands for Ray, which is never reached
touch modules/ray/__init__.py
export PYTHONPATH=$PWD/modules
PATH=$PWD/engines:$PATH fails 75 "bpe ray tasks: bpe tasks was killed; run the same command again" engines/ray/tasks.py work
PATH=$PWD/engines:$PATH fails 75 "bpe ray shard: bpe shard was killed; run the same command again" engines/ray/shard.py --upload=r: -o x a.txt
sed -i 's/^kill.*/echo bpe shard: wrong >\&2; exit 65/' engines/bpe
PATH=$PWD/engines:$PATH fails 65 "bpe shard: wrong" engines/ray/shard.py --upload=r: -o x a.txt
unset PYTHONPATH
# A Slurm job in which bpe tasks or bpe job is killed.
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase $1 in job) exec %q job --as="bpe slurm" -- sh -c "kill -9 \$\$" ;; esac\n' "$BUILD/bpe" >engines/bpe
for words in "last work train work" "tasks work 1 1"; do
    # shellcheck disable=SC2086
    PATH=$PWD/engines:$PATH SLURM_RESTART_COUNT=3 SLURM_ARRAY_TASK_ID=0 engines/slurm/job.sh $words 2>err
    is "$? $(cat err)" "75 bpe slurm: a process was killed" "slurm/job.sh $words"
done
printf '#!/bin/sh\nkill -9 $$\n' >engines/bpe
PATH=$PWD/engines:$PATH SLURM_RESTART_COUNT=3 SLURM_ARRAY_TASK_ID=0 engines/slurm/job.sh tasks work 1 1 2>err
is $? 75 "slurm/job.sh, if bpe job is killed"

# Input from others is never run as a command: the job ids in a directory of bpe slurm, and a host's reports about itself.
# shellcheck disable=SC2016
evil='a[$(>hit)]'
mkdir slurm
for program in sbatch squeue scontrol; do printf '#!/bin/sh\necho "%s $*" >>called\necho 5\n' $program >slurm/$program; done
chmod +x slurm/*
for jobs in '5 --me' '-- 5' "$evil 5" "5 $evil" '5' ''; do
    rm -rf work called
    bpe tasks plan -o work a.txt >/dev/null && printf '%s\n' "$jobs" "'train'" >work/slurm.jobs
    PATH=$PWD/slurm:$PATH refuses 65 "bpe slurm train: work/slurm.jobs: *: not ids of Slurm jobs; remove the file if no jobs of this work are waiting or running" \
        "$P/slurm/train" --work=work -v 300 -o x.json a.txt
    is "$(ls hit called 2>/dev/null)" "" "  and queries no job ($jobs)"
done
if command -v parallel >/dev/null && command -v zstd >/dev/null; then
    mkdir host
    # A host is a local shell with its own getconf, which prints the number of cores, or forges other reports.
    # shellcheck disable=SC2016
    printf '#!/bin/bash\ncase ${!#} in "sh -c"*) cd host && PATH=$PWD:$PATH exec sh -c "${!#}" ;; esac\n' >host/ssh
    bpe-chunk --inline a.txt >a.chunks
    for says in "$evil" 0; do
        printf "#!/bin/sh\necho '%s'\n" "$says" >host/getconf
        chmod +x host/*
        refuses 71 "bpe ssh: evil: reports '*' cores" "$P/ssh/fan_out" -S evil --ssh="$PWD/host/ssh" -- bpe-count <a.chunks
        is "$(find . -name hit -delete -print)" "" "  without running it ($says)"
    done
    for says in "- done 0 $evil" "- unread $evil" "$evil lost" '7 ready /tmp 1 x'; do
        # shellcheck disable=SC2016
        printf '#!/bin/sh\nprintf "\\n%%s\\n" "${MARK%%%% *} $SAYS" "$MARK lacks nothing" >&9; echo 1\n' >host/getconf
        # shellcheck disable=SC2016
        printf '#!/bin/bash\n%s\n' 'words=${!#}; case $words in "sh -c"*) cd host; MARK=$(grep -o "bpe-ssh-[A-Za-z0-9]* [0-9]" <<<"$words" | head -n 1)
            export MARK; PATH=$PWD:$PATH exec sh -c "$words" 9>&1 ;; esac; exit 255' >host/ssh
        rm -f hit
        SAYS=$says timeout 60 "$P/ssh/fan_out" -S evil --retries=1 --ssh="$PWD/host/ssh" -- bpe-count <a.chunks >out 2>err
        is "$? $(find . -name hit) $(grep -c 'line [0-9]*:' err)" "127  0" "the forged report '$says' is ignored" || sed 's/^/# /' err
    done
    # A host needs the programs, zstd, tar and a few basic commands, but neither bash nor Perl. A missing program, there or here, is
    # reported before any work.
    few="sh cat getconf mktemp rm tail"
    here="$few dirname sed touch mv mkfifo sleep perl"
    # only DIR PROGRAM...
    only() {
        local program
        rm -rf "$1"
        mkdir "$1"
        for program in "${@:2}"; do ln -s "$(command -v "$program")" "$1/$program"; done
    }
    # shellcheck disable=SC2016
    printf '#!/bin/bash\ncase ${!#} in sh\ * | exec\ sh\ *) cd host && exec env -i PATH="$PWD/only" sh -c "${!#}" ;; esac\n' >host/ssh
    # shellcheck disable=SC2086
    only host/only $few bpe bpe-count zstd tar
    head -c 20000 a.txt >tiny.txt
    bpe-chunk --inline tiny.txt | "$P/ssh/fan_out" -S 1/host --ssh="$PWD/host/ssh" -- bpe-count >out 2>err
    is "$? $(cat err)" "0 " "a host without bash and Perl"
    same <(bpe-sum out | bpe-view | grep -v '^#') <(bpe-chunk tiny.txt | bpe-count | bpe-sum | bpe-view | grep -v '^#') \
        "  the counts are right"
    for program in bpe bpe-count zstd tar; do
        # shellcheck disable=SC2046,SC2086
        only host/only $few $(printf '%s\n' bpe bpe-count zstd tar | grep -vx $program)
        refuses 127 "bpe ssh: host: not installed, or not on PATH there: $program" \
            "$P/ssh/fan_out" -S 1/host --ssh="$PWD/host/ssh" -- bpe-count <a.chunks
    done
    for program in bpe bpe-count zstd tar parallel ssh; do
        # shellcheck disable=SC2046,SC2086
        only few $here $(printf '%s\n' bpe bpe-count zstd tar parallel ssh | grep -vx $program)
        refuses 127 "bpe ssh: $program is not installed, or not on PATH" \
            env PATH="$PWD/few" "$P/ssh/fan_out" -S host -- bpe-count <a.chunks
    done
else
    skip "reports of hosts" "GNU parallel or zstd is not installed"
fi

done_testing
