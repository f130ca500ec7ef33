# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that embed Lua, one for each version whose library is installed.

ifneq ($(filter e2e% accuracy%,$(TESTS)),)
LUA_HOSTS  := $(foreach name,bindings host fibers sleepers vms,$(foreach version,5.1 5.2 5.3 5.4,\
                $(O)/tests/programs/$(name)-$(version)))
TEST_FILES += $(LUA_HOSTS) $(O)/tests/programs/threads-5.4 $(O)/tests/programs/leaderless-5.4 $(O)/tests/programs/loader
TEST_FILES += $(if $(wildcard /usr/include/luajit-2.1/lua.h),$(addprefix $(O)/tests/programs/,bindings-luajit sleepers-luajit))
TEST_FILES += $(O)/tests/programs/lineage $(O)/tests/programs/slow_disk.so $(O)/tests/programs/sleepers-musl
TEST_FILES += $(O)/tests/programs/churn $(O)/tests/programs/brief $(O)/tests/programs/forbid $(O)/tests/programs/set_back.so $(O)/tests/programs/denied.so $(O)/tests/programs/refused_walker.so
TEST_FILES += $(O)/tests/programs/hostile-5.1 $(O)/tests/programs/hostile-5.4
TEST_FILES += $(O)/tests/programs/contain $(O)/tests/programs/host-musl $(STATIC)
TEST_FILES += $(O)/tests/programs/characters $(O)/tests/programs/characters-static
TEST_FILES += $(O)/tests/programs/oldjit
endif

define build_lua_host
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -pthread $< $(call package,--cflags --libs,lua$*) \
		-lm -o $@
endef

$(O)/tests/programs/host-%: tests/programs/host.c
	$(build_lua_host)

$(O)/tests/programs/oldjit: tests/programs/oldjit.c
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 $< -o $@

$(O)/tests/programs/threads-%: tests/programs/threads.c
	$(build_lua_host)

$(O)/tests/programs/leaderless-%: tests/programs/leaderless.c
	$(build_lua_host)

$(O)/tests/programs/sleepers-%: tests/programs/sleepers.c
	$(build_lua_host)

$(O)/tests/programs/bindings-%: tests/programs/bindings.c
	$(build_lua_host)

# With Debian's LuaJIT.
$(O)/tests/programs/bindings-luajit $(O)/tests/programs/sleepers-luajit: $(O)/tests/programs/%-luajit: tests/programs/%.c
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -pthread $< $(call package,--cflags --libs,luajit) -lm -o $@

MUSL_GCC ?= musl-gcc

# Where musl's compiler is, and the sources are to be had.
$(O)/tests/programs/sleepers-musl: tests/programs/sleepers.c tests/hosts/sources.sh
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)if command -v $(firstword $(MUSL_GCC)) >/dev/null && sources=$$(tests/hosts/sources.sh 5.4.8); then \
		$(MUSL_GCC) -std=gnu11 -D_GNU_SOURCE -O2 -w -static -pthread -I"$$sources" $< \
			$$(ls "$$sources"/l*.c | grep -v -e /lua.c -e /luac.c -e /ltests.c) -lm -o $@; fi

# As on Alpine: the interpreter's loader and library are musl's.
$(O)/tests/programs/host-musl: tests/programs/host.c tests/hosts/sources.sh
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)if command -v $(firstword $(MUSL_GCC)) >/dev/null && sources=$$(tests/hosts/sources.sh 5.4.8); then \
		$(MUSL_GCC) -std=gnu11 -D_GNU_SOURCE -O2 -w -DLUA_USE_POSIX -pthread -s -I"$$sources" $< \
			$$(ls "$$sources"/l*.c | grep -v -e /lua.c -e /luac.c -e /ltests.c) -lm -o $@; fi

$(O)/tests/programs/characters-static: tests/programs/characters.c $(O)/user/static/utf8.o
	$(call say,CC,tests/programs/$(@F))
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -O2 -static -Wl,--wrap=setlocale $^ -o $@

$(O)/tests/programs/fibers-%: tests/programs/fibers.c
	$(build_lua_host)

$(O)/tests/programs/vms-%: tests/programs/vms.c
	$(build_lua_host)

# Not a PIE: the forged VM lies where those are loaded.
HOSTILE_SOURCES := $(wildcard tests/programs/hostile/*.c) $(addprefix tests/walk/puc/,image.c objects.c) user/puc/layout_puc.c

$(O)/tests/programs/hostile-5.1: LAYOUT = -DMINOR=1 -DLAYOUT_NAME='"5.1-5.1.5"'
$(O)/tests/programs/hostile-5.4: LAYOUT = -DMINOR=4 -DLAYOUT_NAME='"5.4.3-5.4.9"'

$(O)/tests/programs/hostile-%: $(HOSTILE_SOURCES) $(wildcard tests/programs/hostile/*.h tests/walk/*.h tests/walk/puc/*.h include/*.h)
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(EMBEDDING) $(WARNINGS) -D_GNU_SOURCE -O1 -g -no-pie -pthread $(LAYOUT) -Iinclude -Ibpf -Iuser \
		-Itests/walk -Itests/walk/puc $(call package,--cflags,$(TEST_LIBRARIES)) $(HOSTILE_SOURCES) \
		$(call package,--libs,$(TEST_LIBRARIES)) -o $@

PLAIN_PROGRAMS := $(addprefix $(O)/tests/programs/,lineage churn brief forbid contain characters)

$(PLAIN_PROGRAMS): $(O)/tests/programs/%: tests/programs/%.c
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -O2 -pthread $< -o $@

$(O)/tests/programs/%.so: tests/programs/%.c
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -O2 -fPIC -shared $< -o $@

$(O)/tests/programs/loader: tests/programs/loader.c
	$(call say,CC,tests/programs/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -pthread -rdynamic $< -ldl -o $@
