# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `make kernels` boots kernels with. $(GUEST) is what a guest has in its folder /luaspy: the
# static program, test programs in .output/tests as elsewhere, and files of this tree. Test programs of
# guests are built without sanitizers, which under emulation take the time that the samples need, and
# whose memory map some kernels refuse.
#
# To add a test program, for every architecture or for one, list it in GUEST_TESTS or
# GUEST_TESTS_arm64, the files that it opens, by their names in a checkout, in GUEST_FILES or
# GUEST_FILES_arm64, and Debian's programs that it runs, by their paths, in GUEST_SYSTEM or
# GUEST_SYSTEM_arm64; cross_make.sh names the packages of these. guest.sh runs the test.

# What tells whether the collector runs is another code there than on x86-64.
GUEST_COLLECTORS := $(addprefix .output/tests/oracle/collectors/,5.1.5-signed 5.4.8-signed 5.5.1-clang \
                    luau_577-gcc luau_736-signed luau_736-native)

# The targets of test_dump: each minor version built in seven ways, and those that it has to refuse.
GUEST_HOSTS      := $(foreach release,5.1.5 5.2.4 5.3.6 5.4.8 5.5.1,$(addprefix $(release)-,gcc $(HOST_VARIANTS) shared.so)) \
                    $(notdir $(filter %-wide %-moved-call %-moved-state %-moved-proto,$(filter-out $(O)/hosts/luau_%,$(HOSTS))))
GUEST_SLEEPERS   := $(addprefix .output/tests/programs/sleepers-,5.1 5.2 5.3 5.4 musl)

GUEST_TESTS_arm64  := unit/elf/test_machine_code walk/puc/test_gc walk/puc/test_frame_records oracle/test_traces e2e/dump/test_dump \
                      oracle/test_collector oracle/test_collector_generations oracle/test_collector_luau
GUEST_FILES_arm64  := $(addprefix tests/oracle/target/,collector.lua traces.lua) $(GUEST_COLLECTORS) \
                      $(addprefix tests/programs/,stacks.lua yielders.lua) $(GUEST_SLEEPERS) $(GUEST_HOSTS:%=.output/hosts/%)
GUEST_SYSTEM_arm64 := /usr/bin/luajit /usr/bin/redis-server /usr/bin/setpriv

GUEST        := $(O)/guest
GUEST_TESTS  := e2e/sampler/test_verifier oracle/test_oracle $(GUEST_TESTS_$(ARCH))
GUEST_SYSTEM := /bin/busybox $(addprefix /usr/bin/,lua5.1 lua5.2 lua5.3 lua5.4) $(GUEST_SYSTEM_$(ARCH))

# Targets of the oracle that are no packages of Debian.
GUEST_ORACLES_x86   := luajit_rolling-gcc luau_736-gcc
GUEST_ORACLES_arm64 := luajit_rolling-gcc luau_577-gcc luau_736-native

GUEST_FILES  := luaspy $(GUEST_TESTS:%=.output/tests/%) tests/kernels/guest.sh tests/kernels/busy.lua \
                tests/oracle/target/workload.lua $(foreach version,5.1 5.4,$(addprefix .output/tests/oracle/$(version)/,oracle.so host)) \
                $(GUEST_ORACLES_$(ARCH):%=.output/tests/oracle/hosts/%) $(GUEST_FILES_$(ARCH))

GUEST_OBJECTS := $(filter-out $(O)/user/main.o,$(USER_OBJECTS))
guest_objects_beside = $(patsubst %.c,$(O)/%.o,$(call sources_beside,$(1)))

.PHONY: guest
guest: $(GUEST)/initrd

$(GUEST)/initrd: tests/kernels/guest_root.sh tests/kernels/init $(GUEST_FILES:%=$(GUEST)/%)
	$(call say,INITRD,$@)
	$(Q)$< '$(SYSTEM)' $(GUEST) $(GUEST_SYSTEM) $(GUEST_FILES) > $@

$(GUEST)/luaspy: $(STATIC)
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(GUEST_TESTS:%=$(GUEST)/.output/tests/%): $(GUEST)/.output/tests/%: \
		$(O)/tests/%.o $$(call guest_objects_beside,$$*) $(GUEST_OBJECTS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBRARY_LIBS) $(TEST_LIBRARY_LIBS) -lm $(LDLIBS) -o $@

$(O)/tests/%.o: tests/%.c $(O)/user.flags | $(GENERATED)
	$(call say,CC,tests/$*.o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) $(TEST_CFLAGS) $(call folders_included,$*) -MMD -MP -c $< -o $@

$(GUEST)/tests/%: tests/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(GUEST)/.output/%: $(O)/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
