# SPDX-License-Identifier: GPL-2.0-only
# fsassay. `make help` lists what there is to make.

PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
# Instrumented builds: make D=asan,ubsan (or D=asan, D=ubsan, D=debug); each has a build folder of its own.
D       ?=
JOBS    ?= $(shell nproc 2>/dev/null || echo 1)

# V=1 shows the commands that build.
V ?= 0
ifeq ($(V),0)
say = @echo '  $(1)	$(patsubst $(BUILD)/%,%,$(2))';
else
say =
endif

comma := ,
WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Wvla
OPT    := -O2 -g
SAN    :=
ifneq (,$(findstring asan,$(D)))
SAN    += -fsanitize=address -fno-omit-frame-pointer
endif
ifneq (,$(findstring ubsan,$(D)))
SAN    += -fsanitize=undefined -fno-sanitize-recover=undefined
endif
ifneq (,$(findstring debug,$(D)))
OPT    := -O0 -g3
endif
BUILD  := build$(if $(D),-$(subst $(comma),-,$(D)))$(if $(filter clang,$(notdir $(CC))),-clang)

VERSION := 0.1
LIBS    := blkid libarchive smartcols jansson ext2fs com_err zlib lzo2 libzstd libxxhash libgcrypt
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -DFSASSAY_VERSION='"$(VERSION)"' -MMD -MP
# Asked once, and only when something is built: setting up must not need pkg-config.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell pkg-config --cflags $(LIBS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell pkg-config --libs $(LIBS)))$(PKG_LIBS)
CFLAGS  ?= $(OPT)
ALL_CFLAGS = -std=c11 $(WARN) $(SAN) $(CFLAGS) $(PKG_CFLAGS)
LDLIBS  = $(PKG_LIBS) -lreiser4 -laal -lpthread

LIB_SRC     := $(wildcard parsers/*.c parsers/*/*.c)
POP_SRC     := $(wildcard populate/*.c populate/shared/*.c)
POP_ASM     := $(wildcard populate/*.S)
GUEST_SRC   := $(wildcard populate/guest/*.c populate/shared/*.c)
PROG_SRC    := $(wildcard analyzer/*.c) $(POP_SRC)
UNIT_SRC    := $(wildcard tests/unit/test_*.c)
UNIT_HELP   := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))

LIB_OBJ     := $(LIB_SRC:%.c=$(BUILD)/%.o)
PROG_OBJ    := $(PROG_SRC:%.c=$(BUILD)/%.o) $(POP_ASM:%.S=$(BUILD)/%.o)
GUEST_OBJ   := $(GUEST_SRC:%.c=$(BUILD)/guest/%.o)
UNIT_HELP_OBJ := $(UNIT_HELP:%.c=$(BUILD)/%.o)
UNIT_BIN    := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
# The program's own objects without main(), for unit tests of its figures and printing.
PROG_LIB_OBJ := $(filter-out $(BUILD)/analyzer/main.o,$(PROG_OBJ))

.PHONY: all demo check build-packages check-packages install fuzz bench lint golden-update samples unit clean help

all: $(BUILD)/fsassay ## build the program (build/fsassay)

$(BUILD)/fsassay: $(PROG_OBJ) $(BUILD)/libfsassay.a
	$(call say,LINK,$@)$(CC) $(SAN) $(LDFLAGS) -o $@ $(PROG_OBJ) $(BUILD)/libfsassay.a $(LDLIBS)

$(BUILD)/libfsassay.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -c -o $@ $<

# The guest program of user-mode Linux is static, never instrumented, and carried inside the program.
$(BUILD)/guest/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$< (guest))$(CC) -std=c11 $(WARN) -O2 $(CPPFLAGS) -c -o $@ $<

$(BUILD)/fsassay-guest: $(GUEST_OBJ)
	$(call say,LINK,$@)$(CC) -static -s -o $@ $(GUEST_OBJ)

# Loaded into user-mode Linux itself; carried likewise.
$(BUILD)/uml_ptrace.so: populate/preload/uml_ptrace.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=c11 $(WARN) -O2 -D_GNU_SOURCE -fPIC -shared -s -o $@ $<

$(BUILD)/%.o: %.S $(BUILD)/fsassay-guest $(BUILD)/uml_ptrace.so
	@mkdir -p $(@D)
	$(call say,AS,$<)$(CC) -DGUEST_BLOB='"$(BUILD)/fsassay-guest"' -DPRELOAD_BLOB='"$(BUILD)/uml_ptrace.so"' -c -o $@ $<

$(BUILD)/unit/%: tests/unit/%.c $(UNIT_HELP_OBJ) $(PROG_LIB_OBJ) $(BUILD)/libfsassay.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -I. -Iparsers/core -MF $@.d -o $@ $< $(UNIT_HELP_OBJ) $(PROG_LIB_OBJ) \
		$(BUILD)/libfsassay.a $(LDLIBS) -lcmocka

unit: $(UNIT_BIN) ## build the unit tests

demo: build-packages ## install what building needs, build, and assay the shipped samples
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@scripts/demo $(BUILD)/fsassay

check: check-packages ## install what the tests need, build, run all tests
	@$(MAKE) --no-print-directory -j$(JOBS) all unit
	@BUILD=$(BUILD) tests/run

build-packages:
	@scripts/install-packages build

check-packages:
	@scripts/install-packages build check

install: all ## install under DESTDIR/PREFIX: program, man page, completion, schema
	install -D -m 755 $(BUILD)/fsassay $(DESTDIR)$(PREFIX)/bin/fsassay
	install -D -m 644 man/fsassay.1 $(DESTDIR)$(PREFIX)/share/man/man1/fsassay.1
	install -D -m 644 completion/fsassay.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fsassay
	for f in samples/trials/*.plan samples/documented/*.csv; do \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/fsassay/$${f#samples/} || exit 1; done
	for f in analyzer/schema/*.json; do \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/fsassay/$$(basename $$f) || exit 1; done

fuzz: check-packages ## fuzz the parsers in memory for a long time (SECONDS=600 each)
	@tests/fuzz/run long

bench: check-packages ## timings against the formats' own tools (takes minutes; root for loop mounts)
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@BUILD=$(BUILD) tests/bench/run

lint: ## layering, spelling of the library's rules, cppcheck
	@scripts/lint

golden-update: all ## write the expected outputs of tests/golden anew
	@BUILD=$(BUILD) tests/golden/update

samples: all ## make the shipped samples anew with their recorded commands
	@BUILD=$(BUILD) samples/make

clean: ## remove what was built
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F'\t' '{printf "  make %-15s %s\n", $$1, $$2}'
	@echo "  D=asan,ubsan builds instrumented; CC=clang, PREFIX=, DESTDIR= as usual."

-include $(LIB_OBJ:.o=.d) $(PROG_OBJ:.o=.d) $(GUEST_OBJ:.o=.d) $(UNIT_BIN:=.d) $(UNIT_HELP_OBJ:.o=.d)
