# tasks.mk - a tokenizer, or shards, by make(1), from tasks of bpe tasks: large files are divided, too.
#
#     make -j8 -f /usr/local/share/bpetools/tasks.mk CORPUS='a.txt b.txt' V=32000
#     make -j8 -f /usr/local/share/bpetools/tasks.mk CORPUS='a.txt b.txt' MODEL=tokenizer.json OUT=shards SHARD='-n 100M'
#
#   CORPUS  the files, names without spaces        WORK   where results are kept (default tasks.work; with MODEL
#   V       the size of the vocabulary                    encode.work)
#   MODEL   encode by this model                   OUT    the model (default tokenizer.json), or the shards (shards)
#   PLAN    options of bpe tasks plan: -p cl100k   MERGE  options of bpe tasks train: --tie=lex
#                                                  SHARD  options of bpe tasks shard: -n 100M
#
# A task is one process, and so is the rest after them. Tasks that have a result are not done again, so after any failure the
# same command goes on; with -k those that can be done are done first. Other files, or other options in PLAN, are another
# WORK. Where files are many and change, vocab.mk counts again those that changed.
CORPUS ?=
V      ?= 32000
MODEL  ?=
PLAN   ?=
MERGE  ?=
SHARD  ?=
WORK   ?= $(if $(MODEL),encode.work,tasks.work)
OUT    ?= $(if $(MODEL),shards,tokenizer.json)

ifndef PLANNED

# The tasks are known when the work is planned: a second make does them.
.PHONY: all
all:
	@test -n '$(strip $(CORPUS))' || { echo "which files? give CORPUS='a.txt b.txt'" >&2; exit 64; }
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
