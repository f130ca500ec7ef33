# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A luaspy with one family of interpreters more, and a program that has that one and Lua.

ifneq ($(filter toy%,$(TESTS)),)
TEST_FILES += $(O)/tests/toy/luaspy $(O)/tests/toy/toy
endif

# What it is built from, its own make knows.
$(O)/tests/toy/luaspy: FORCE
	@mkdir -p $(@D)/build
	@$(MAKE) --no-print-directory O=$(O)/tests/toy/build FURTHER=tests/toy $(O)/tests/toy/build/luaspy
	@cmp -s $(@D)/build/luaspy $@ || cp $(@D)/build/luaspy $@

$(O)/tests/toy/toy: $(wildcard tests/toy/program/*.[ch])
	$(call say,CC,tests/toy/$(@F))
	@mkdir -p $(@D) $(O)/tests/programs
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -Itests/toy/include $(filter %.c,$^) \
		$(call package,--cflags --libs,lua5.4) -lm -o $@

SIDE_BY_SIDE += toy/%
