# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs for AArch64, which tests read as files on any machine. Where the cross compiler or the
# sources cannot be had the file does not come to be, and the tests that want it say so.

ARM64_HOSTS := $(foreach release,5.1.5 5.4.8 5.5.1,$(foreach way,gcc clang small,$(release)-$(way))) \
               5.2.4-gcc 5.3.6-gcc 5.4.8-lto 5.4.8-signed
ARM64_FILES := $(ARM64_HOSTS:%=$(O)/tests/unit/arm64/%) $(O)/tests/unit/arm64/signed.so
ARM64_TRIPLE := aarch64-linux-gnu

$(O)/tests/unit/arm64/%: private export HOST_TRIPLE = $(ARM64_TRIPLE)
$(O)/tests/unit/arm64/%: tests/programs/host.c $(HOST_SCRIPTS)
	$(call say,HOST,tests/unit/arm64/$*)
	$(Q)$(call build_host,$*,$@)

$(O)/tests/unit/arm64/signed.so: tests/unit/elf/arm64/signed.c
	$(call say,CC,tests/unit/arm64/signed.so)
	@mkdir -p $(@D)
	$(Q)! command -v $(ARM64_TRIPLE)-gcc >/dev/null || \
		$(ARM64_TRIPLE)-gcc -O2 -mbranch-protection=pac-ret+leaf+b-key -shared -nostdlib $< -o $@

TEST_FILES += $(if $(filter unit unit/puc unit/elf unit/puc/test_gc_puc unit/elf/test_eh_frame,$(TESTS)),$(ARM64_FILES))

# What registers the library of Lua is looked for in these, too.
LIBRARY_HOSTS := 5.1.5-clang 5.2.4-shared.so 5.3.6-O0 5.4.8-cxx 5.4.8-lto 5.5.1-small
TEST_FILES += $(if $(filter unit unit/puc unit/puc/test_library_puc,$(TESTS)),$(ARM64_FILES) $(LIBRARY_HOSTS:%=$(O)/hosts/%))

# Where the collector of Luau is looked for, and what its layout is derived from.
TEST_FILES += $(if $(filter unit unit/luau unit/luau/test_gc_luau,$(TESTS)),$(O)/hosts/luau_736-clang $(LUAU_HOSTS:%=$(O)/hosts/luau_%))
TEST_FILES += $(if $(filter unit/luau/test_calibration_luau,$(TESTS)),$(O)/hosts/luau_736-clang $(LUAU_HOSTS:%=$(O)/hosts/luau_%))

# Those of the worker measure time.
SIDE_BY_SIDE += $(filter-out unit/worker/%,$(filter unit/%,$(TEST_SOURCES:tests/%.c=%)))
