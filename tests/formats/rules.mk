# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Readers of the formats that are no packages of Debian's.

SPEEDSCOPE_VERSION := 1.25.0
SPEEDSCOPE         := $(O)/tests/formats/node_modules/speedscope/package.json

ifneq ($(filter formats%,$(TESTS)),)
TEST_FILES += $(SPEEDSCOPE)
endif

# Without npm or a network there is none, and test_formats.c says so.
$(SPEEDSCOPE):
	$(call say,NPM,speedscope $(SPEEDSCOPE_VERSION))
	@mkdir -p $(O)/tests/formats
	$(Q)npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(O)/tests/formats \
		speedscope@$(SPEEDSCOPE_VERSION) >/dev/null || echo "no speedscope: npm cannot install it"
