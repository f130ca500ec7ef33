# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that embed Lua, one for each version whose library is installed.

ifneq ($(filter e2e% accuracy%,$(TESTS)),)
LUA_HOSTS  := $(foreach version,5.1 5.2 5.3 5.4,$(O)/tests/programs/host-$(version))
TEST_FILES += $(LUA_HOSTS) $(O)/tests/programs/threads-5.4
endif

$(O)/tests/programs/host-%: tests/programs/host.c
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 $< $(call package,--cflags --libs,lua$*) -lm -o $@

$(O)/tests/programs/threads-%: tests/programs/threads.c
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -pthread $< $(call package,--cflags --libs,lua$*) -o $@
