# bpetools: `make help` says what there is.
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
VERSION := 0.1.0

PROGRAMS := bpe-chunk bpe-count bpe-sum bpe-merge bpe-view
LIBS     := -lpcre2-8 -ljansson -lzstd -lz

WARN := -Wall -Wextra
ifeq ($(DEVELOPER),1)
WARN += -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wvla -Werror
endif

# What is compiled, always: CFLAGS stays the user's.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Icommon -DBPE_VERSION='"$(VERSION)"' $(WARN) $(CPPFLAGS) $(CFLAGS)

LIB_SRC  := $(sort $(wildcard common/*/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
LIB      := $(BUILD)/libbpe.a
BINS     := $(PROGRAMS:%=$(BUILD)/%)
UNIT_SRC := $(sort $(wildcard tests/unit/*.c))
UNITS    := $(UNIT_SRC:%.c=$(BUILD)/%)
ORACLE_SRC := $(sort $(wildcard tests/oracle/*.c))
ORACLES  := $(ORACLE_SRC:%.c=$(BUILD)/%)

all: $(BINS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(BINS): $(BUILD)/%: $(BUILD)/cmd/%.o $(LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(UNITS) $(ORACLES): $(BUILD)/%: $(BUILD)/%.o $(LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Rebuild everything when compiler or flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS)' > $@

units: $(UNITS) $(ORACLES)

clean:
	rm -rf build build-*

FORCE:
.PHONY: all units clean FORCE
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
