# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The product's BPF objects with the oracle's beside them, and targets for every release.

ORACLE_SKELETON := $(O)/oracle.skel.h
ORACLE_RELEASES := $(foreach v,5.1 5.2 5.3 5.4,$(if $(wildcard /usr/include/lua$(v)/lua.h),$(v)))

$(ORACLE_SKELETON): $(O)/tests/oracle/linked.o
	$(call say,SKEL,$(@F))
	$(Q)$(BPFTOOL) gen skeleton $< name oracle_bpf > $@

$(O)/tests/oracle/linked.o: $(O)/tests/oracle/oracle.bpf.o $(BPF_OBJECTS)
	$(call say,BPFLINK,$(@F))
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/asan/tests/oracle/tap.o: | $(ORACLE_SKELETON)

# Shared: a module for Debian's lua5.x, and a program that links liblua5.x and runs it on a thread.
ORACLE_TARGETS := $(ORACLE_RELEASES:%=$(O)/tests/oracle/%/oracle.so) \
                  $(ORACLE_RELEASES:%=$(O)/tests/oracle/%/host)

$(O)/tests/oracle/%/oracle.so: tests/oracle/target/module.c tests/oracle/truth.h
	$(call say,CC,tests/oracle/$*/oracle.so)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -fPIC -shared -I/usr/include/lua$* $< -o $@

$(O)/tests/oracle/%/host: tests/oracle/target/host.c
	$(call say,CC,tests/oracle/$*/host)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -pthread -DON_THREAD -I/usr/include/lua$* $< -llua$* -o $@

# Static and stripped: from the sources of cargo's lua-src, where they are (LUA_SOURCES: a folder
# that has lua-5.4.8/ and the like).
LUA_SOURCES ?= $(lastword $(sort $(wildcard $(HOME)/.cargo/registry/src/*/lua-src-548.*)))
ORACLE_STATIC := $(if $(LUA_SOURCES),$(notdir $(wildcard $(LUA_SOURCES)/lua-5.[1-4].*)))
ORACLE_TARGETS += $(ORACLE_STATIC:%=$(O)/tests/oracle/%/static)

$(O)/tests/oracle/lua-%/static: tests/oracle/target/host.c tests/oracle/target/module.c tests/oracle/truth.h
	$(call say,CC,tests/oracle/lua-$*/static)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -w -DLUA_USE_POSIX -DWITH_MODULE -I$(LUA_SOURCES)/lua-$* \
		$(filter %.c,$^) $(LUA_SOURCES)/lua-$*/*.c -static -s -lm -o $@

TEST_FILES += $(if $(findstring oracle,$(TESTS)),$(ORACLE_TARGETS))
