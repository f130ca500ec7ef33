# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The fuzzers: libFuzzer's, so built by clang, with all of the program but its main() and what
# stands for the target in its place. Without clang's fuzzer runtime there are none, and
# test_fuzz.c says so.

FUZZ_NAMES    := walk walk_luajit walk_luajit32 walk_luau elf symbols records worker source profile input
FUZZ_PROGRAMS := $(FUZZ_NAMES:%=$(O)/tests/fuzz/fuzz_%)
FUZZ_SECONDS  ?= 600

FUZZ_CFLAGS = $(USER_CFLAGS) -Wno-microsoft-anon-tag $(TEST_CFLAGS) $(addprefix -Itests/walk,/ /luajit /luau /puc) -g -O1 -fno-omit-frame-pointer \
              -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all

FUZZ_LINK = -fsanitize=address,undefined,fuzzer

$(O)/fuzz.flags: flags = $(CLANG) $(FUZZ_CFLAGS)

# An archive, of which only what is asked for is linked, and nothing that has a stand-in.
FUZZ_ARCHIVE := $(O)/fuzz/user.a
FUZZ_OBJECTS := $(patsubst %.c,$(O)/fuzz/%.o,$(filter-out user/main.c,$(USER_SOURCES)))

FUZZ_WALK_COMMON := $(O)/fuzz/tests/walk/memory.o $(O)/fuzz/tests/walk/rows.o

FUZZ_WALK_OBJECTS := $(FUZZ_WALK_COMMON) $(patsubst %.c,$(O)/fuzz/%.o, \
                       $(filter-out tests/walk/puc/test_% tests/walk/puc/capture.c,$(wildcard tests/walk/puc/*.c)))

FUZZ_WALK_LUAJIT_OBJECTS := $(FUZZ_WALK_COMMON) $(patsubst %.c,$(O)/fuzz/%.o,$(wildcard tests/walk/luajit/luajit_*.c))

FUZZ_WALK_LUAJIT32_OBJECTS := $(FUZZ_WALK_COMMON) $(patsubst %.c,$(O)/fuzz/%.o,$(wildcard tests/walk/luajit32/luajit_*.c))

FUZZ_WALK_LUAU_OBJECTS := $(FUZZ_WALK_COMMON) $(patsubst %.c,$(O)/fuzz/%.o,$(wildcard tests/walk/luau/luau_*.c))

$(O)/tests/fuzz/fuzz_walk:    $(FUZZ_WALK_OBJECTS)
$(O)/tests/fuzz/fuzz_walk_luajit: $(FUZZ_WALK_LUAJIT_OBJECTS)
$(O)/tests/fuzz/fuzz_walk_luajit32: $(FUZZ_WALK_LUAJIT32_OBJECTS)
$(O)/tests/fuzz/fuzz_walk_luau: $(FUZZ_WALK_LUAU_OBJECTS)
$(filter $(O)/tests/fuzz/fuzz_walk%,$(FUZZ_PROGRAMS)): $(O)/fuzz/tests/fuzz/targets/changes.o
$(O)/tests/fuzz/fuzz_elf:     $(O)/fuzz/tests/fuzz/targets/process_of_input.o
$(O)/tests/fuzz/fuzz_symbols: $(O)/fuzz/tests/fuzz/targets/memory_of_input.o
$(O)/tests/fuzz/fuzz_records: $(O)/fuzz/tests/fuzz/targets/memory_of_input.o
$(O)/tests/fuzz/fuzz_worker:  $(O)/fuzz/tests/fuzz/targets/memory_of_input.o
$(O)/tests/fuzz/fuzz_profile: $(O)/fuzz/tests/fuzz/targets/profile_checks.o
$(O)/tests/fuzz/fuzz_input:   $(O)/fuzz/tests/fuzz/targets/profile_checks.o

$(FUZZ_ARCHIVE): $(FUZZ_OBJECTS)
	$(call say,AR,fuzz/user.a)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(FUZZ_PROGRAMS): $(O)/tests/fuzz/fuzz_%: $(O)/fuzz/tests/fuzz/targets/fuzz_%.o $(FUZZ_ARCHIVE)
	$(call say,LINK,tests/fuzz/$(@F))
	@mkdir -p $(@D)
	$(Q)if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		$(CLANG) -x c - $(FUZZ_LINK) -o $@ 2>/dev/null; \
	then $(CLANG) $(FUZZ_CFLAGS) $(FUZZ_LINK) $(LDFLAGS) \
		$(filter %.o,$^) $(FUZZ_ARCHIVE) $(LIBRARY_LIBS) $(TEST_LIBRARY_LIBS) -lm $(LDLIBS) -o $@; \
	else echo "no fuzzer runtime for '$(CLANG)'"; rm -f $@; fi

$(O)/fuzz/%.o: %.c $(O)/fuzz.flags | $(GENERATED)
	$(call say,CC,fuzz/$*.o)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -MMD -MP -c $< -o $@

$(addprefix $(O)/fuzz/,$(VERSION_OBJECTS)): private CPPFLAGS += -DLUASPY_VERSION='"$(VERSION_STRING)"'

TEST_FILES += $(if $(findstring fuzz,$(TESTS)),$(FUZZ_PROGRAMS))

#: fuzz          runs the fuzzers, FUZZ_SECONDS (600) each
# What is new kept in $(O)/tests/fuzz/new, what fails in $(O)/tests/fuzz.
.PHONY: fuzz
fuzz:
	@tests/install_dependencies.sh build test
	@$(MAKE) $(FUZZ_PROGRAMS)
	$(Q)status=0; for name in $(FUZZ_NAMES); do \
		mkdir -p $(O)/tests/fuzz/new/$$name; \
		$(O)/tests/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 \
			-artifact_prefix=$(O)/tests/fuzz/$$name- -print_final_stats=1 \
			$(O)/tests/fuzz/new/$$name tests/fuzz/corpus/$${name%32} || status=1; \
	done; exit $$status

# The first inputs anew, from interpreters of this machine.
$(O)/tests/fuzz/make_corpus: $(O)/fuzz/tests/fuzz/targets/make_corpus.o $(FUZZ_WALK_OBJECTS) \
                             $(O)/fuzz/tests/walk/puc/capture.o $(FUZZ_ARCHIVE)
	$(call say,LINK,tests/fuzz/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) $(LDFLAGS) $^ $(LIBRARY_LIBS) $(TEST_LIBRARY_LIBS) -lm $(LDLIBS) -o $@

.PHONY: fuzz-corpus
fuzz-corpus: $(O)/tests/fuzz/make_corpus
	@OUTPUT=$(O) tests/fuzz/make_corpus.sh

-include $(wildcard $(addprefix $(O)/fuzz/,*/*/*.d */*/*/*.d))

# A fuzzer keeps one processor busy.
SIDE_BY_SIDE += fuzz/%
