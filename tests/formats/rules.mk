# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Readers of the formats that are no packages of Debian's.

SPEEDSCOPE_VERSION := 1.25.0
SPEEDSCOPE         := $(O)/tests/formats/node_modules/speedscope/package.json

# What loads profiles for Firefox Profiler's page, without the page. It needs this release of node.
PROFILER_CLI_VERSION := 0.10.0
PROFILER_CLI_NODE    := node-linux-$(if $(filter aarch64,$(shell uname -m)),arm64,x64)@24.21.0
PROFILER_CLI := $(O)/tests/formats/node_modules/@firefox-devtools/profiler-cli/package.json

ifneq ($(filter formats%,$(TESTS)),)
TEST_FILES += $(SPEEDSCOPE) $(PROFILER_CLI)
endif

# Without npm or a network there is none, and test_formats.c says so.
$(SPEEDSCOPE):
	$(call say,NPM,speedscope $(SPEEDSCOPE_VERSION))
	@mkdir -p $(O)/tests/formats
	$(Q)$(NPM) install --prefix $(O)/tests/formats \
		speedscope@$(SPEEDSCOPE_VERSION) >/dev/null || echo "no speedscope: npm cannot install it"

# npm removes what another npm puts there at the same time.
$(PROFILER_CLI): | $(SPEEDSCOPE)
	$(call say,NPM,profiler-cli $(PROFILER_CLI_VERSION))
	$(Q)$(NPM) install --prefix $(O)/tests/formats \
		@firefox-devtools/profiler-cli@$(PROFILER_CLI_VERSION) $(PROFILER_CLI_NODE) \
		>/dev/null || echo "no profiler-cli: npm cannot install it"
