// main.nf - trains a tokenizer, or makes shards, with Nextflow, by running the tasks of bpe tasks.
//
//     nextflow run main.nf --corpus 'data/*.txt' --vocab 32000
//     nextflow run main.nf --corpus 'data/*.txt' --model tokenizer.json --out shards
//
//   corpus  the files: a glob pattern              work   where results are kept (default tasks.work; with model
//   vocab   the size of the vocabulary                    encode.work)
//   model   encode with this model                 out    the model (default tokenizer.json), or the shards (shards)
//   plan    options of bpe tasks plan              merge, shard  options of bpe tasks train, and of bpe tasks shard:
//           --plan='-p cl100k'                            --shard='-n 100M'
//
// Nextflow's configuration (process.executor) selects where tasks run; the nodes must share this directory. bpe tasks
// keeps track of results, so -resume is not needed: the same command runs only the tasks without a result.
params.corpus = null
params.vocab = 32000
params.model = null
params.work = params.model ? 'encode.work' : 'tasks.work'
params.out = params.model ? 'shards' : 'tokenizer.json'
params.plan = ''
params.merge = ''
params.shard = ''

def quoted(word) {
    "'" + word.toString().replace("'", "'\\''") + "'"
}

// All processes run in the directory where Nextflow was started, because names are relative to it.
process plan {
    executor 'local'
    cache false

    input:
    val corpus

    output:
    stdout

    script:
    """
    cd ${quoted(launchDir)}
    bpe tasks plan -o ${quoted(params.work)} ${params.model ? '-m ' + quoted(params.model) : ''} ${params.plan} -- ${corpus.collect { quoted(it) }.join(' ')} >&2
    bpe tasks todo ${quoted(params.work)}
    """
}

process task {
    tag "$number"
    cache false
    maxRetries 3
    // Killed tasks are retried (75, and above 128). After another failure, the tasks that are running are finished.
    errorStrategy { task.exitStatus == 75 || task.exitStatus > 128 ? 'retry' : 'finish' }

    input:
    val number

    output:
    val number

    script:
    """
    cd ${quoted(launchDir)}
    bpe tasks run ${quoted(params.work)} $number
    """
}

process combine {
    cache false

    input:
    val numbers

    script:
    """
    cd ${quoted(launchDir)}
    bpe tasks ${params.model ? 'shard' : 'train'} ${quoted(params.work)} ${params.model ? params.shard : '-v ' + params.vocab + ' ' + params.merge} -o ${quoted(params.out)}
    """
}

workflow {
    if (!params.corpus) {
        error "missing --corpus; for example --corpus 'data/*.txt'"
    }
    absolute = params.corpus.startsWith('/')
    corpus = files(params.corpus).sort().collect { absolute ? it : launchDir.relativize(it) }
    plan(Channel.value(corpus)) | splitText | map { it.trim() } | task
    combine(task.out.collect().ifEmpty([]))
}
