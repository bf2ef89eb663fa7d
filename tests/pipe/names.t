#!/bin/bash
# Names may begin with a dash: inputs, models, outputs, and directories for work and temporary files.
in_memory=1
. "$(dirname "$0")/../lib.sh"
P=$TOP/pipelines

text 1 60000 >./-a.txt
text 2 1100000 >./-b.txt
gzip -k ./-a.txt
mkdir ./-tmp
export TMPDIR=-tmp
files=(-a.txt -b.txt)
line -- "${files[@]}" >./-m.json
V=300 line -- "${files[@]}" >want.json

# done_as NAME WANTED GOT: the last command must have succeeded, GOT must equal WANTED, and no temporary file may be left. Removes GOT.
done_as() {
    local code=$?
    diff -r "$2" "$3" >diff.out 2>&1 && [ $code = 0 ] && [ -z "$(ls -A ./-tmp)" ]
    ok $? "$1" || { echo "exit $code; left: $(ls -A ./-tmp)" && head -n 5 diff.out err; } | sed 's/^/# /'
    rm -rf "${3:?}"
}

# ---- encode ----

bpe-encode -m -m.json -- "${files[@]}" >want.ids
bpe-encode -m -m.json -- -a.txt.gz >want.gz
for option in -o-out --output=-out "-o -out"; do
    # shellcheck disable=SC2086
    bpe encode -m -m.json -j 2 $option -- "${files[@]}" 2>err
    done_as "encode $option" want.ids ./-out
done
bpe encode -m -m.json -j 2 -o -out -- -a.txt.gz 2>err
done_as "encode, a compressed file" want.gz ./-out
printf '%s\n' "${files[@]}" >./-list
bpe encode --model=-m.json -j 2 -o -out --files-from=-list 2>err
done_as "encode --files-from" want.ids ./-out
mkdir ./-dir
fails 73 "bpe encode: -dir: cannot create: Is a directory" bpe encode -m -m.json -o -dir -- -a.txt
fails 66 "*-none*: cannot open: No such file or directory" bpe encode -m -none -o -out -- -a.txt

# ---- train ----

for how in auto xargs parallel none; do
    [ $how != parallel ] || command -v parallel >/dev/null || continue
    bpe train -v 300 -j 2 --fan-out=$how -o -out -- "${files[@]}" 2>err
    done_as "train --fan-out=$how" want.json ./-out
done
for keep in --keep=-k "--keep -k"; do
    # shellcheck disable=SC2086
    bpe train -v 300 -j 2 $keep -o -out -- "${files[@]}" 2>err
    done_as "train $keep" want.json ./-out
done
rm ./-k/sum ./-k/counts/part.00000
bpe train -v 300 -j 2 --keep=-k -o -out -- "${files[@]}" 2>err
done_as "  resumes" want.json ./-out
fails 64 "bpe train: -k was begun with: *" bpe train -v 300 --keep=-k -- -a.txt
fails 73 "bpe train: -a.txt: cannot create: File exists" bpe train -v 300 --keep=-a.txt -- -b.txt

# ---- shard ----

shards() { # made by the pipeline, into want
    rm -rf want
    bpe-chunk -m -m.json -- "${files[@]}" | bpe-encode -m -m.json | bpe-shard -o want -n 50K >/dev/null
}
shards
bpe shard -m -m.json -j 2 -n 50K -o -out -- "${files[@]}" >lines 2>err
is "$? $(cat err)" "0 " "shard"
bpe shard -m -m.json -j 2 -n 50K -o -out -- "${files[@]}" >lines 2>err
is "$? $(cat err)" "0 bpe-shard: ./-out: is already complete" "  is complete"
done_as "  as the pipeline does" want ./-out
printf '{"text": "a b c d"}\n' >./-a.jsonl
bpe shard -m -m.json -o -out --jsonl --files-from=-list -n 50K 2>err
like "$? $(head -n 1 err)" "65 bpe-encode: -a.txt: line 1: not JSON *" "shard --jsonl of a file that is not JSON"
printf '%s\n' -a.jsonl >./-list
bpe shard -m -m.json -o -out2 --jsonl --files-from=-list -n 50K >/dev/null 2>err
is "$? $(cat err)" "0 " "shard --files-from"
rm -rf ./-out ./-out2

# ---- tasks ----

bpe tasks plan --tasks=2 -o -t -- "${files[@]}" >out 2>err
is "$? $(cat out err) $(bpe tasks todo --ranges -- -t)" "0 -t: 1 task: 0 0" "tasks plan, todo"
bpe tasks run -- -t 0 2>err
is "$? $(cat err) $(bpe tasks todo --ranges -- -t)" "0  " "tasks run"
bpe tasks train -v 300 -o -out -- -t 2>err
done_as "tasks train" want.json ./-out
bpe tasks plan --tasks=2 -m -m.json -o -ids -- "${files[@]}" >out && bpe tasks run -- -ids 0 &&
    bpe tasks shard -n 50K -o -out -- -ids >lines 2>err
done_as "tasks shard" want ./-out

# ---- sum-tree, describe ----

for i in 1 2 3 4; do head -n $((i * 100)) ./-b.txt | bpe-chunk | bpe-count | bpe-sum >"./-$i.sum"; done
sums=(-1.sum -2.sum -3.sum -4.sum)
bpe-sum -- "${sums[@]}" | words >want.words
for options in "-o -out" "-o -out -T -tmp" "-o -out -T-tmp -j 1"; do
    # shellcheck disable=SC2086
    bpe sum-tree -j 2 -k 2 $options -- "${sums[@]}" 2>err && words -- -out >./-words
    done_as "sum-tree $options" want.words ./-words
    rm -f ./-out
done
cp ./-1.sum 1.sum
cp ./-m.json m.json
bpe describe 1.sum m.json >want.text
bpe describe -- -1.sum -m.json >./-out 2>err
done_as "describe" want.text ./-out

# ---- tune, plan ----

bpe tune -m -m.json -j 1 -b 1M --rounds=1 --sample=100K -- -a.txt.gz "${files[@]}" >out 2>err
like "$? $(cat err)$(tail -n 1 out)" "0 fastest: bpe shard -m -m.json -o DIR -j 1 -b 1M *" "tune"
bpe plan --sample=1M -- "${files[@]}" -a.txt.gz >out 2>err
is "$? $(cat err)" "0 " "plan"

# ---- upload ----

if command -v rclone >/dev/null; then
    bpe upload --once --delete-after -- want :local:-there 2>err
    is "$? $(cat err)" "0 " "upload"
    shards
    done_as "  to a remote" want ./-there
    cp -r want ./-from
    bpe upload --once -- -from -there 2>err
    done_as "  from a directory to a directory" want ./-there
else
    skip "upload" "rclone is not installed"
fi

# ---- slurm: up to sbatch ----

mkdir slurm
# shellcheck disable=SC2016
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >sbatch.out\ncat >>sbatch.out\necho 5\n' >slurm/sbatch
printf '#!/bin/sh\n' >slurm/squeue
printf '#!/bin/sh\necho MaxArraySize = 10\n' >slurm/scontrol
chmod +x slurm/*
PATH=$PWD/slurm:$PATH "$P/slurm/train" --work=-w -v 300 -o -model -- "${files[@]}" >out 2>err
is "$? $(cat err) $(find ./-w/slurm.jobs ./-w/logs -maxdepth 0 | wc -l)" "0  2" "slurm train"
like "$(cat sbatch.out)" "*--output=./-w/logs/last.%j* last './-w' train './-w' *" "  the command line of its last job"
PATH=$PWD/slurm:$PATH "$P/slurm/shard" --work=-w2 -m -m.json -o -out -- "${files[@]}" >out 2>err
is "$? $(cat err) $(find ./-w2/slurm.jobs ./-w2/logs -maxdepth 0 | wc -l)" "0  2" "slurm shard"
done_testing
