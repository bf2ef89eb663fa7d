# tasks.mk - trains a tokenizer, or makes shards, with make(1), by running the tasks of bpe tasks, which also divide large files.
#
#     make -j8 -f /usr/local/share/bpetools/tasks.mk CORPUS='a.txt b.txt' V=32000
#     make -j8 -f /usr/local/share/bpetools/tasks.mk CORPUS='a.txt b.txt' MODEL=tokenizer.json OUT=shards SHARD='-n 100M'
#
#   CORPUS  the files, names without spaces        WORK   where results are kept (default tasks.work; with MODEL
#   V       the size of the vocabulary                    encode.work)
#   MODEL   encode with this model                 OUT    the model (default tokenizer.json), or the shards (shards)
#   PLAN    options of bpe tasks plan: -p cl100k   MERGE  options of bpe tasks train: --tie=lex
#                                                  SHARD  options of bpe tasks shard: -n 100M
#
# Each task is one process; after the tasks, one more process makes the result. Tasks that have a result are not run again,
# so after a failure, run the same command again; with -k, make first runs all tasks that it can. Use another WORK for other
# files, or other options in PLAN. For many files that change, use vocab.mk, which counts only changed files again.
CORPUS ?=
V      ?= 32000
MODEL  ?=
PLAN   ?=
MERGE  ?=
SHARD  ?=
WORK   ?= $(if $(MODEL),encode.work,tasks.work)
OUT    ?= $(if $(MODEL),shards,tokenizer.json)

ifndef PLANNED

# The tasks are known only after planning, so a second make runs them.
.PHONY: all
all:
	@test -n '$(strip $(CORPUS))' || { echo "missing CORPUS; for example CORPUS='a.txt b.txt'" >&2; exit 64; }
	@bpe tasks plan -o $(WORK) $(if $(MODEL),-m $(MODEL)) $(PLAN) -- $(CORPUS)
	@$(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST)) PLANNED=1

else

TASKS := $(addprefix task.,$(shell bpe tasks todo $(WORK)))

.PHONY: all $(TASKS)
all: $(TASKS)
	bpe tasks $(if $(MODEL),shard $(WORK) $(SHARD),train $(WORK) -v $(V) $(MERGE)) -o $(OUT)

$(TASKS): task.%:
	bpe tasks run $(WORK) $*

endif
