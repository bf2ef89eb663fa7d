# vocab.mk - trains a tokenizer with make(1): keeps the counts of each file, and counts only changed files again.
#
#     make -f /usr/local/share/bpetools/vocab.mk -j8 CORPUS='a.txt b.txt.zst' V=32000
#
#   CORPUS  the files, names without spaces        WORK   where counts are kept (default vocab.work)
#   V       the size of the vocabulary             OUT    the model (default tokenizer.json)
#   CHUNK   options of bpe-chunk: -p cl100k        MERGE  options of bpe-merge: --tie=lex
#
# If CHUNK changes, all files are counted again; if the list of files changes, only the sum is made again; if V or MERGE
# change, only the merges. All targets appear when they are complete. If a program fails, its message is shown, its target is
# removed, and make exits with 2.
CORPUS ?=
V      ?= 32000
CHUNK  ?=
MERGE  ?=
WORK   ?= vocab.work
OUT    ?= tokenizer.json

COUNTS := $(CORPUS:%=$(WORK)/%.counts)

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: FORCE all
all: $(OUT)

# Files that hold the current options; rewritten when these change.
$(WORK)/is.chunk: ASKED = $(CHUNK)
$(WORK)/is.corpus: ASKED = $(CORPUS)
$(WORK)/is.merge: ASKED = $(V) $(MERGE)
$(WORK)/is.chunk $(WORK)/is.corpus $(WORK)/is.merge: FORCE
	@mkdir -p $(WORK)
	@echo '$(subst ','\'',$(ASKED))' | cmp -s - $@ || echo '$(subst ','\'',$(ASKED))' >$@

$(COUNTS): $(WORK)/%.counts: % $(WORK)/is.chunk
	@mkdir -p $(@D)
	bpe-chunk $(CHUNK) -- $< | bpe-count | bpe-sum >$@.tmp || { code=$$?; rm $@.tmp; exit $$code; }
	@mv $@.tmp $@

$(WORK)/corpus.sum: $(COUNTS) $(WORK)/is.corpus
	@test -n '$(strip $(COUNTS))' || { echo "missing CORPUS; for example CORPUS='a.txt b.txt'" >&2; exit 64; }
	bpe-sum -- $(COUNTS) >$@.tmp || { code=$$?; rm $@.tmp; exit $$code; }
	@mv $@.tmp $@

$(OUT): $(WORK)/corpus.sum $(WORK)/is.merge
	bpe-merge -v $(V) $(MERGE) -o $@ -- $<
