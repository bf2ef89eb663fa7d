# bpetools: `make help` lists the targets.
PREFIX  ?= /usr/local
DESTDIR ?=
LIBDIR  ?= lib
BUILD   ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
JOBS    ?= 2
VERSION := 0.2.0
# Commands that compile are not shown; V=1 shows them. With -s, nothing is printed.
Q   := $(if $(filter 1,$(V)),,@)
SAY := $(if $(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS)))),:,echo)

PROGRAMS := bpe-chunk bpe-count bpe-sum bpe-merge bpe-encode bpe-decode bpe-shard bpe-model bpe-view
LIBS     := -pthread -lpcre2-8 -lzstd -lz -lmd

# ISA-L (Debian: libisal-dev) decompresses gzip twice as fast as zlib; ISAL= builds without it.
ISAL := $(shell printf '\043include <isa-l.h>\nint main(void) { return 0; }\n' | \
    $(CC) -x c -o /dev/null - -lisal 2>/dev/null && echo yes)
ifneq (,$(ISAL))
HAVE := -DBPE_ISAL
LIBS += -lisal
endif

WARN := -Wall -Wextra
ifeq ($(DEVELOPER),1)
WARN += -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wvla -Werror
# The stack is checked only once, at the start (common/base/cli/program.c), so no function may use much of it.
$(BUILD)/common/%.o $(BUILD)/cmd/%.o: FRAME = -Wframe-larger-than=32768
endif

# Flags that are always used; CFLAGS, CPPFLAGS and LDFLAGS are the user's. Any object may be in the shared library, hence -fPIC; it
# exports only its API, hence -fvisibility.
FLAGS := -std=c11 -fPIC -fvisibility=hidden -D_GNU_SOURCE -Icommon -DBPE_VERSION='"$(VERSION)"' $(WARN) $(HAVE) $(CPPFLAGS) $(CFLAGS)

# Oracles are slow programs of the tests; sanitizers are for the programs that they check.
$(BUILD)/tests/oracle/%.o: SIMD = -O2 -fno-sanitize=all

# A file named for an instruction set is compiled for it (common/base/sys/simd.h).
ifneq (,$(findstring x86_64,$(shell $(CC) -dumpmachine)))
$(BUILD)/%_avx2.o: SIMD = -mavx2 -mbmi -mbmi2 -mpopcnt
$(BUILD)/%_avx512.o: SIMD = -mavx2 -mbmi -mbmi2 -mpopcnt -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vbmi2
endif

LIB     := $(BUILD)/libbpe.a
LIB_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard common/*/*.c common/*/*/*.c))
BINS    := $(PROGRAMS:%=$(BUILD)/%)
SONAME  := libbpetools.so.0
SHARED  := $(BUILD)/$(SONAME)
LIBRARY_LIBS := -pthread -lpcre2-8 -lmd
# Other installed files, selected by name and mode: scripts (commands, which are executable and have no dot in their names, and
# shared code) and recipes; no caches, no editor backups, and not the Python package.
FIND      = cd pipelines && find * \( -name '.*' -o -name __pycache__ -o -path python -o -name '*[!A-Za-z0-9_.-]*' \) -prune -o -type f
PIPELINES = $(shell $(FIND) ! -name demo.sh \( -name '*.sh' -o -name '*.py' -o -perm -100 ! -name '*.*' \) -print)
RECIPES   = $(shell $(FIND) \( -name '*.mk' -o -name '*.nf' -o -name Snakefile \) -print)
# Programs of the tests: unit tests and the helpers of oracles, faults and fuzzing.
UNITS   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c))
HELPERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/oracle/*.c tests/golden/*.c tests/bench/*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
FAULTS  := $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/fault/*.c))
ENGINE_TESTS := $(addprefix tests/engines/,ray.t spark.t ssh.t container.t slurm.t) # the longest tests run first
ENGINE_TESTS += $(filter-out $(ENGINE_TESTS),$(wildcard tests/engines/*.t))
CLUSTERS := $(filter-out tests/engines/make.t,$(ENGINE_TESTS)) # run by make check-engines
SCRIPTS := $(filter-out $(CLUSTERS) tests/lint/cppcheck.t,$(wildcard tests/*/*.t)) # make lint runs cppcheck
MAN     := $(wildcard man/*.[1-8])

all: $(BINS) $(BUILD)/bpe $(SHARED)

help:
	@echo "make                build the programs, in $(BUILD)/"
	@echo "make install        install in DESTDIR PREFIX ($(PREFIX)); make uninstall removes it"
	@echo "make html           build the manual as web pages, in $(BUILD)/html (mandoc)"
	@echo "make wheel          build wheels that run on any Linux, in $(BUILD)/wheel (pip install ./pipelines/python: for this machine only)"
	@echo "make demo           train a tokenizer on text found on this machine, and encode the text"
	@echo "make check          run the tests (CORPUS=DIR: also on the texts in DIR)"
	@echo "make check-peers    compare with Hugging Face tokenizers and others, from PyPI (CORPUS=DIR)"
	@echo "make check-vocabularies  test bpe-encode with vocabularies of GPT-2, Llama and others, a million strings each (CORPUS=DIR); two hours"
	@echo "make check-linear   test that bpe-encode takes linear time on any text, with models in all formats; half an hour"
	@echo "make check-wheel    test the wheels in clean environments, with all installed versions of Python"
	@echo "make check-upload   test bpe upload with servers that go builds: a current rclone, fake-gcs-server"
	@echo "make check-engines  test the recipes for Slurm, Ray, Spark, ssh and others, with clusters on this machine"
	@echo "make check-sanitize run the tests under ASan and UBSan, in build-sanitize/"
	@echo "make check-threads  test the C library with several threads under TSan, in build-threads/"
	@echo "make lint           check layers, style and manual pages, and run cppcheck"
	@echo "make coverage       report the lines that the tests run, by layer, in build-coverage/ (gcovr)"
	@echo "make check-arm      run unit tests for aarch64 under QEMU, in build-arm/"
	@echo "make fuzz           fuzz for FUZZ_SECONDS ($(FUZZ_SECONDS)); FUZZER=libfuzzer: with libFuzzer"
	@echo "make soak           test bpe-shard and the bpe command with 200 kills at random times, and death at every step"
	@echo "make bench          compare times with other tools and the goals (CORPUS=DIR); twenty minutes, 6 GB"
	@echo "make bench-quick    the same in a minute, without the slow rows"
	@echo "make bench-encode   compare encoding with other tools and the goals (CORPUS=DIR; BASELINE=DIR: also with an older build)"
	@echo "make bench-shard    compare making shards with other tools and the goals (CORPUS=DIR)"
	@echo "make bench-python   compare the Python package with other packages and the goals (CORPUS=DIR)"
	@echo "make bench-peers    measure README's tables: bpe train and bpe encode beside other tools (CORPUS=DIR)"
	@echo "make bench-scale    measure each stage at 100 MB, 1 GB and 10 GB, and the fan-out; at least twelve minutes, 17 GB (SIZES='100M 1G')"
	@echo "make bench-distinct measure bpe-sum and bpe-merge with 10^6 to 10^8 distinct pretokens; 13 GB of memory, 11 GB on disk (NUMBERS='1M 10M')"
	@echo "make bench-hot      measure each hot path beside its bound (CORPUS=DIR)"
	@echo "make clean          remove all build directories"
	@echo "make help           show this text"
	@echo "DEVELOPER=1 enables more warnings, as errors"

# The shared library: its API, and only the code that this needs (--gc-sections).
$(SHARED): $(LIB)
	@$(SAY) "  LINK $@"
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--no-undefined -Wl,--gc-sections -o $@ \
	    $(filter $(BUILD)/common/library/%,$(LIB_OBJ)) $(LIB) $(LIBRARY_LIBS)
	@ln -sf $(SONAME) $(BUILD)/libbpetools.so

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(SIMD) $(FRAME) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# The bpe command. If it is not installed, it finds commands in other languages, and the manual, by the links in $(BUILD).
BPE_OBJ := $(patsubst %.c,$(BUILD)/%.o,cmd/bpe.c $(wildcard cmd/bpe/*.c))
$(BPE_OBJ): FLAGS += -Icmd
ifeq ($(ONE),1)
# One file, bpe, contains all programs (cmd/one), so each main gets its own name.
BPE_OBJ := $(patsubst %,$(BUILD)/cmd/one/%.o,bpe $(PROGRAMS) programs) $(filter $(BUILD)/cmd/bpe/%,$(BPE_OBJ))
$(BUILD)/cmd/one/%.o: $(BUILD)/cmd/%.o
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-sym main=$(subst -,_,$*)_main $< $@
$(BUILD)/cmd/one/programs.o: Makefile
$(BUILD)/cmd/one/programs.o: FLAGS += -DPROGRAMS='$(patsubst %,PROGRAM(%),$(subst -,_,bpe $(PROGRAMS)))'
$(BINS): cmd/one/start.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(WARN) -Os -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie -s -Wl,--build-id=none \
	    -Wl,-z,noseparate-code -o $@ $<
else
$(BINS): $(BUILD)/%: $(BUILD)/cmd/%.o $(LIB)
	@$(SAY) "  LINK $@"
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
endif
$(BUILD)/bpe: LIBS += -lm
$(BUILD)/bpe: $(BPE_OBJ) $(LIB) | $(BUILD)/pipelines $(BUILD)/man
	@$(SAY) "  LINK $@"
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $(BPE_OBJ) $(LIB) $(LIBS)

$(BUILD)/pipelines $(BUILD)/man:
	@mkdir -p $(@D)
	@ln -sfn $(abspath $(@F)) $@

$(BUILD)/tests/bench/text_make $(BUILD)/tests/unit/plan_test $(BUILD)/tests/unit/monitor_test: LIBS += -lm
$(BUILD)/tests/unit/plan_test: $(BUILD)/cmd/bpe/plan_fit.o $(BUILD)/cmd/bpe/plan_model.o
$(UNITS) $(HELPERS): $(BUILD)/%: $(BUILD)/%.o $(LIB)
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The main program of fuzz targets is replay.c or, with FUZZER=libfuzzer and clang, libFuzzer.
ifeq ($(FUZZER),libfuzzer)
$(FUZZERS): FUZZ_MAIN = -fsanitize=fuzzer
else
$(FUZZERS): FUZZ_MAIN = $(BUILD)/tests/fuzz/replay.o
$(FUZZERS): $(BUILD)/tests/fuzz/replay.o
endif
$(FUZZERS): $(BUILD)/%: $(BUILD)/%.o $(LIB)
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $< $(FUZZ_MAIN) $(LIB) $(LIBS)

$(FAULTS): $(BUILD)/%.so: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -fvisibility=default $(LDFLAGS) -shared -o $@ $<

# Everything is rebuilt when the compiler or its flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(FLAGS)' | cmp -s - $@ || { \
	    $(SAY) 'Compiling into $(BUILD)/ (about a minute; make V=1 shows the commands)'; \
	    echo '$(CC) $(FLAGS)' > $@; \
	}

units: $(UNITS) $(HELPERS) $(FUZZERS) $(FAULTS)

# The longest tests run first, and one more at a time than JOBS, because some wait for processes that they have killed.
LONG := tests/pipe/monitor.t tests/pipe/pipelines.t tests/pipe/shard-deaths.t tests/pipe/superwords.t tests/pipe/train.t tests/pipe/upload.t \
        tests/pipe/upload-deaths.t

check:
	@tests/need.sh
	@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS)) all units
	@$(MAKE) --no-print-directory check-built

check-built: all units
	@CORPUS=$(CORPUS) tests/corpus.sh $(BUILD)/corpus
	BUILD=$(BUILD) CORPUS=$(if $(CORPUS),$(BUILD)/corpus) tests/tidy.sh prove --timer -j$$(($(JOBS) + 1)) $(filter $(SCRIPTS),$(LONG)) $(UNITS) $(filter-out $(LONG),$(SCRIPTS))

check-peers: all units
	BUILD=$(BUILD) CORPUS=$(CORPUS) tests/peers.sh

# STRINGS=N, SEED=N, NAMES='llama3 ...', WHOLE=multi.txt: see encode_vocabularies.py.
check-vocabularies: all
	bin=$$(BUILD=$(BUILD) tests/venv.sh) && PATH=$$bin:$$PATH BUILD=$(BUILD) WHOLE=$${WHOLE-multi.txt} \
	    prove -v tests/oracle/encode_vocabularies.py :: $$(CORPUS=$(CORPUS) tests/corpus.sh $(BUILD)/corpus)

# NAMES='gemma marks ...': only these formats and texts.
check-linear: all
	BUILD=$(BUILD) prove -v tests/bench/linear.py :: $(NAMES)

# If an engine is not installed, its test fails, and says what to install. With more tests than JOBS at a time, Ray loses nodes.
check-engines: all
	BUILD=$(BUILD) ENGINES=required tests/tidy.sh prove --timer -j$(JOBS) $(ENGINE_TESTS)

check-upload: all
	BUILD=$(BUILD) tests/servers.sh

check-sanitize:
	$(MAKE) check BUILD=build-sanitize LDFLAGS= \
	    CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'

# The library with several threads, under the thread sanitizer.
check-threads:
	$(MAKE) BUILD=build-threads LDFLAGS= CFLAGS='-O1 -g -fsanitize=thread' build-threads/tests/unit/library_test
	TSAN_OPTIONS=halt_on_error=1 prove build-threads/tests/unit/library_test

lint:
	LINT=all prove -j$(JOBS) tests/lint

# This is slow, because all processes of a program update one file of counters.
coverage:
	@gcovr --version >/dev/null 2>&1 || { echo 'coverage: gcovr is missing (Debian: apt-get install gcovr)' >&2; exit 1; }
	-$(MAKE) check BUILD=build-coverage CC=gcc LDFLAGS= CFLAGS='-O1 -g --coverage'
	tests/coverage.py build-coverage

# The tests of code that depends on vector instructions, on a machine other than aarch64. Debian's packages for that, in
# addition to those for `make check`:
ARM_PACKAGES := gcc-aarch64-linux-gnu qemu-user $(addsuffix :arm64,libpcre2-dev libzstd-dev zlib1g-dev libmd-dev)
ARM_UNITS    := $(addprefix build-arm/tests/unit/,packed_key_test scan_test table_test special_test utf8_test record_test model_test \
                    jsonl_test jsonl_lines_test encode_test encode_models_test encode_rare_test decoder_test)

check-arm:
	@echo 'int main(void) { return 0; }' | aarch64-linux-gnu-gcc -x c -o /dev/null - $(filter-out -lisal,$(LIBS)) && qemu-aarch64 -version >/dev/null || { \
	    echo 'check-arm: missing packages; on Debian 12: dpkg --add-architecture arm64 && apt-get update &&' \
	    'apt-get install -y --no-install-recommends $(ARM_PACKAGES)' >&2; exit 1; }
	$(MAKE) BUILD=build-arm CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar $(ARM_UNITS)
	prove -j$(JOBS) --exec qemu-aarch64 $(ARM_UNITS)

# FUZZER=libfuzzer: only the targets, with libFuzzer under ASan and UBSan, in build-fuzz/ (clang, libclang-rt).
FUZZ_SECONDS ?= 60
fuzz:
ifeq ($(FUZZER),libfuzzer)
	$(MAKE) fuzzers BUILD=build-fuzz CC=clang LDFLAGS= \
	    CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
	BUILD=build-fuzz FUZZER=libfuzzer tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
else
	$(MAKE) all units
	BUILD=$(BUILD) tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
endif

fuzzers: $(FUZZERS)

# SHARD_KILLS: the number of kills at random times; FAULT_SECONDS: the time for all steps at which bpe-shard can die or one of its
# calls can fail; PLACES: the steps at which a process of the bpe command dies; TRIALS: the number of damaged streams; FULL: all
# random cases of unit tests.
soak: all units
	BUILD=$(BUILD) SHARD_KILLS=$(or $(SHARD_KILLS),200) FAULT_SECONDS=$(or $(FAULT_SECONDS),600) PLACES=all TRIALS=$(or $(TRIALS),100) \
	    FULL=1 tests/tidy.sh prove -v tests/pipe/shard-kills.t tests/fault/shard.t tests/fault/fault.t tests/pipe/deaths.t \
	    tests/pipe/upload-deaths.t tests/pipe/conservation.t $(UNITS)

# RUNS=N and ROWS=KEY,... are for bench.py and encode.py.
bench: all units
	@BUILD=$(BUILD) CC='$(CC)' CORPUS=$(CORPUS) RUNS=$(RUNS) ROWS=$(ROWS) tests/bench/bench.py

bench-quick: all units
	@BUILD=$(BUILD) CC='$(CC)' CORPUS=$(CORPUS) RUNS=$(RUNS) ROWS=$(ROWS) tests/bench/bench.py --quick

bench-encode: all units
	@BUILD=$(BUILD) CC='$(CC)' CORPUS=$(CORPUS) RUNS=$(RUNS) ROWS=$(ROWS) BASELINE=$(BASELINE) tests/bench/encode.py

bench-shard: all units
	@BUILD=$(BUILD) CC='$(CC)' CORPUS=$(CORPUS) RUNS=$(RUNS) ROWS=$(ROWS) tests/bench/shard.py

bench-peers: all
	@BUILD=$(BUILD) CC='$(CC)' CORPUS=$(CORPUS) RUNS=$(RUNS) ROWS=$(ROWS) tests/bench/peers.py

bench-python: all units
	@BUILD=$(BUILD) CC='$(CC)' CORPUS=$(CORPUS) RUNS=$(RUNS) ROWS=$(ROWS) tests/bench/python.py

# SIZES, PROCESSES, RUNS: see scale.py, which makes its own text.
bench-scale: all units
	@BUILD=$(BUILD) CC='$(CC)' CORPUS=$(CORPUS) RUNS=$(RUNS) ROWS=$(ROWS) SIZES='$(SIZES)' PROCESSES='$(PROCESSES)' \
	    tests/bench/scale.py

bench-distinct: all units
	@BUILD=$(BUILD) CORPUS=$(CORPUS) NUMBERS='$(NUMBERS)' tests/bench/distinct.py

bench-hot: $(BUILD)/tests/bench/hot
	@$(BUILD)/tests/bench/hot $$(CORPUS=$(CORPUS) tests/corpus.sh $(BUILD)/corpus)

html:
	@man/html.sh '$(abspath $(BUILD))/html'

demo: all
	@BUILD=$(BUILD) pipelines/demo.sh

ROOT      := $(DESTDIR)$(PREFIX)
INSTALLED := $(ROOT)/share/bpetools/installed

# Records the installed files for uninstall, and for the next install, which uninstalls first. ldconfig, which needs root, makes the
# library known to the loader.
install: all
	@[ ! -e '$(INSTALLED)' ] || $(MAKE) -s uninstall
	@mkdir -p '$(ROOT)/share/bpetools'
	$(Q)put() { \
	    name=$${3:-$${1##*/}}; \
	    mkdir -p "$(ROOT)/$$2" && echo "$$2/$$name" >>'$(INSTALLED)' && cp -P "$$1" "$(ROOT)/$$2/$$name" || exit; \
	}; \
	for file in $(BINS) $(BUILD)/bpe; do put $$file bin; done; \
	for file in $(PIPELINES); do \
	    case $$file in */*) put pipelines/$$file libexec/bpetools/$${file%/*} ;; *) put pipelines/$$file libexec/bpetools ;; esac; \
	done; \
	for file in $(RECIPES); do put pipelines/$$file share/bpetools; done; \
	for page in $(MAN); do put $$page share/man/man$${page##*.}; done; \
	put common/library/bpetools.h include; \
	put $(SHARED) $(LIBDIR); put $(BUILD)/libbpetools.so $(LIBDIR); \
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: bpetools' 'Description: byte-pair encoding' 'Version: $(VERSION)' \
	    'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/$(LIBDIR) -lbpetools' >$(BUILD)/bpetools.pc; \
	put $(BUILD)/bpetools.pc $(LIBDIR)/pkgconfig; \
	put pipelines/completions/_bpe share/zsh/site-functions; \
	for name in bpe $(PROGRAMS); do \
	    put pipelines/completions/bpe.bash share/bash-completion/completions $$name; \
	    put pipelines/completions/bpe.fish share/fish/vendor_completions.d $$name.fish; \
	done
	@$(SAY) 'Installed in $(ROOT) (make uninstall removes it)'
	@[ -n '$(DESTDIR)' ] || PATH="$$PATH:/usr/sbin:/sbin" ldconfig 2>/dev/null || :

# Wheels for other machines, in $(BUILD)/wheel (release.py): the programs, linked statically into one file, so that they run on any
# Linux (without ISA-L, because Debian has no static library of it), and the library, which contains the code it needs from other
# libraries except glibc.
WHEEL      := $(BUILD)/wheel
WHEEL_MAKE  = $(MAKE) BUILD=$(WHEEL)/objects ONE=1 ISAL= CFLAGS=-O2
HATCHLING  := hatchling==1.33.0

wheel:
	@command -v dpkg-query >/dev/null || { echo 'wheel: build on Debian, whose packages record the versions and licenses of the linked libraries' >&2; exit 1; }
	@python3 -c 'import ensurepip' 2>/dev/null || { echo 'wheel: python3 lacks venv; on Debian: apt-get install python3-venv' >&2; exit 1; }
	+$(WHEEL_MAKE) LDFLAGS='-s -static -Wl,-Map=$$@.map' $(BINS:$(BUILD)/%=$(WHEEL)/objects/%) $(WHEEL)/objects/bpe
	+$(WHEEL_MAKE) LDFLAGS='-s -Wl,--exclude-libs,ALL -Wl,-Map=$$@.map' LIBRARY_LIBS='-pthread -l:libpcre2-8.a -l:libmd.a' \
	    $(WHEEL)/objects/$(SONAME)
	rm -rf $(WHEEL)/installed $(WHEEL)/*.whl
	+$(WHEEL_MAKE) -s -o all install DESTDIR=$(abspath $(WHEEL))/installed PREFIX=
	@bin=$$(BUILD=$(BUILD) tests/venv.sh $(HATCHLING)) && $$bin/python3 pipelines/python/release.py $(WHEEL)

# TWICE=1: also test that a build in another directory makes the same bytes; IMAGE=1: also test in a minimal Debian (mmdebstrap).
check-wheel: wheel
	bin=$$(BUILD=$(BUILD) tests/venv.sh $(HATCHLING) auditwheel==6.8.2 'cyclonedx-python-lib[json-validation]==11.12.0' numpy) && \
	    PATH=$$bin:$$PATH BUILD=$(BUILD) WHEELS=$(abspath $(WHEEL)) TWICE=$(TWICE) IMAGE=$(IMAGE) tests/tidy.sh prove -v tests/python/wheel.t

# Also removes what Python has compiled. Directories with other files remain.
uninstall:
	@[ -e '$(INSTALLED)' ] || { echo 'uninstall: $(INSTALLED): no such file; nothing is installed there' >&2; exit 1; }
	$(Q)while IFS= read -r file; do \
	    rm -f "$(ROOT)/$$file"; \
	    case $$file in *.py) name=$${file##*/} cache=$(ROOT)/$${file%/*}/__pycache__ ;; *) continue ;; esac; \
	    [ ! -d "$$cache" ] || { rm -f "$$cache/$${name%.py}".*.pyc && rmdir "$$cache" 2>/dev/null; }; \
	done <'$(INSTALLED)'
	$(Q)directories=$$(sed -n 's|/[^/]*$$||; /bpetools/p' '$(INSTALLED)' | sort -ru); \
	rm '$(INSTALLED)'; \
	for dir in $$directories; do rmdir "$(ROOT)/$$dir" 2>/dev/null || :; done

clean:
	rm -rf $(BUILD) build-sanitize build-threads build-arm build-fuzz build-coverage build-python

FORCE:
.PHONY: all help html units wheel check-wheel check check-built check-peers check-vocabularies check-linear check-upload check-engines check-sanitize check-threads check-arm lint coverage fuzz fuzzers bench bench-quick bench-encode bench-shard bench-peers bench-python bench-scale bench-distinct bench-hot soak demo install uninstall clean FORCE
.SECONDARY:
-include $(shell find $(BUILD)/cmd $(BUILD)/common $(BUILD)/tests -name '*.d' 2>/dev/null)
