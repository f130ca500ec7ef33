# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What ordinary users may do to a luaspy that runs as root: tests/programs/attacks/.

ATTACKS      := $(patsubst tests/programs/%.c,$(O)/tests/programs/%,\
                  $(filter-out %/module.c,$(wildcard tests/programs/attacks/*.c)))
ATTACK_PARTS := $(wildcard tests/programs/attacks/parts/*.c)

ifneq ($(filter hostile%,$(TESTS)),)
TEST_FILES += $(ATTACKS) $(O)/tests/programs/attacks/module.so
endif

.PHONY: attacks
attacks: $(ATTACKS) $(O)/tests/programs/attacks/module.so

#: siege         attacks luaspy as ordinary users may, in all ways at once, for ten minutes
.PHONY: siege
siege:
	@TEST_TIMEOUT=1200 SIEGE_SECONDS=$${SIEGE_SECONDS:-600} \
		$(MAKE) check TESTS=hostile/test_siege

# What a program does not use is left out of it: the strings of a Lua above all.
$(ATTACKS): $(O)/tests/programs/%: tests/programs/%.c $(ATTACK_PARTS) $(ATTACK_PARTS:.c=.h)
	$(call say,CC,tests/programs/$*)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -O2 -g -pthread -ffunction-sections -fdata-sections -Wl,--gc-sections $< $(ATTACK_PARTS) \
		$(if $(findstring lua,$@),$(call package,--cflags --libs,lua5.4)) -o $@
