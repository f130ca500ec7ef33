# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The page as node builds it now, and beside it the tests that node runs. Without npm, or where it
# cannot fetch the packages, there is none of it, and the tests say so.

ifneq ($(filter page%,$(TESTS)),)
TEST_FILES += $(O)/tests/page/ready
endif

$(O)/tests/page/ready: FORCE
	@mkdir -p $(@D)
	@rm -f $@
	@if command -v npm >/dev/null && $(MAKE) $(PAGE_BUILD)/packages; then \
		$(MAKE) $(PAGE_BUILD)/page.html && mkdir -p $(PAGE_BUILD)/tests && \
		cp tests/page/*.mjs $(PAGE_BUILD)/tests/ && touch $@; \
	fi

SIDE_BY_SIDE += page/%
