# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The oracle's BPF object, which calls the product's, and targets for every release.

ORACLE_RELEASES := $(foreach v,5.1 5.2 5.3 5.4,$(if $(wildcard /usr/include/lua$(v)/lua.h),$(v)))

$(O)/oracle.skel.h: $(O)/tests/oracle/oracle.bpf.o
	$(call say,SKEL,$(@F))
	$(Q)$(BPFTOOL) gen skeleton $< name oracle_bpf > $@

$(O)/asan/tests/oracle/tap.o $(O)/tests/oracle/tap.o: | $(O)/oracle.skel.h

# The module is the first of these files, which includes the others.
ORACLE_MODULE := $(addprefix tests/oracle/,target/module.c target/api.h target/publishing.h truth.h)

# Shared: a module for Debian's lua5.x, and a program that links liblua5.x and runs it on a thread.
ORACLE_TARGETS := $(ORACLE_RELEASES:%=$(O)/tests/oracle/%/oracle.so) \
                  $(ORACLE_RELEASES:%=$(O)/tests/oracle/%/host)

$(O)/tests/oracle/%/oracle.so: $(ORACLE_MODULE)
	$(call say,CC,tests/oracle/$*/oracle.so)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -fPIC -shared -I/usr/include/lua$* $< -o $@

$(O)/tests/oracle/%/host: tests/oracle/target/host.c
	$(call say,CC,tests/oracle/$*/host)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -pthread -DON_THREAD -I/usr/include/lua$* $< -llua$* -o $@

# A module for Debian's luajit.
ORACLE_TARGETS += $(if $(wildcard /usr/include/luajit-2.1/lua.h),$(O)/tests/oracle/luajit/oracle.so)

$(O)/tests/oracle/luajit/oracle.so: $(ORACLE_MODULE)
	$(call say,CC,tests/oracle/luajit/oracle.so)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARNINGS) -fPIC -shared -DWITH_LUAJIT -DCODE_AT=40 -DNUMBER_AT=10 -I/usr/include/luajit-2.1 $< -o $@

# Releases of every class, with the module built in; a class each at least twice, by other compilers.
ORACLE_HOSTS := 5.1.5-gcc 5.1.5-clang 5.2.4-gcc 5.2.4-lto 5.3.6-gcc 5.3.6-small 5.4.0-gcc 5.4.1-gcc 5.4.2-gcc \
                5.4.4-gcc 5.4.8-gcc 5.4.8-clang 5.4.8-cxx 5.4.9-small 5.5.0-gcc 5.5.1-clang 5.5.1-lto 5.5.1-O0
ORACLE_TARGETS += $(ORACLE_HOSTS:%=$(O)/tests/oracle/hosts/%)

$(O)/tests/oracle/hosts/%: tests/oracle/target/host.c $(ORACLE_MODULE) $(HOST_SCRIPTS)
	$(call say,HOST,tests/oracle/hosts/$*)
	$(Q)$(call build_host,$*,$@,$(filter %.c,$^) -DWITH_MODULE)

# LuaJIT in the ways in which programs have it.
ORACLE_LUAJITS := $(foreach variant,gcc clang shared nojit lua52,rolling-$(variant)) openresty-gcc \
                  $(foreach variant,gcc32 clang32 nojit32,rolling-$(variant)) openresty-gcc32 2.0-gcc32
ORACLE_TARGETS += $(ORACLE_LUAJITS:%=$(O)/tests/oracle/hosts/luajit_%)

$(O)/tests/oracle/hosts/luajit_%: tests/oracle/target/host.c $(ORACLE_MODULE) $(LUAJIT_SCRIPT)
	$(call say,HOST,tests/oracle/hosts/luajit_$*)
	$(Q)$(call build_luajit,$*,$@,$(filter %.c,$^) -DWITH_MODULE -DWITH_LUAJIT)

# Luau, by the numbers of its releases.
ORACLE_LUAUS := 516-gcc 577-gcc 635-gcc 690-gcc 727-longjmp 736-gcc 736-clang 736-vector4 \
                736-native 736-sandbox 736-grown
ORACLE_TARGETS += $(ORACLE_LUAUS:%=$(O)/tests/oracle/hosts/luau_%)

$(O)/tests/oracle/hosts/luau_%: tests/programs/host_luau.cpp $(ORACLE_MODULE) $(LUAU_SCRIPT)
	$(call say,HOST,tests/oracle/hosts/luau_$*)
	$(Q)$(call build_luau,$*,$@,$(filter %.cpp %.c,$^) -DWITH_MODULE -DWITH_LUAU)

TEST_FILES += $(if $(findstring oracle,$(TESTS)),$(ORACLE_TARGETS))

# With a luaV_execute that publishes every instruction that it fetches, for test_lines: compilers
# differ in where they keep its pc.
LINE_HOSTS := $(foreach release,5.1.5 5.2.4 5.3.6 5.4.0 5.4.6 5.4.8 5.5.0 5.5.1,$(release)-gcc $(release)-clang) \
              5.1.5-small 5.4.8-small 5.4.8-lto 5.5.1-small 5.5.1-lto
LINE_TARGETS := $(LINE_HOSTS:%=$(O)/tests/oracle/lines/%)

# The fetch is `i = *pc++` or `i = *(ci->u.l.savedpc++)`, lvm.c of all releases.
$(O)/tests/oracle/lines/%: private export HOST_PATCH = sed -i -e 's/^\#include "lvm.h"/&\nconst void *volatile fetched[2];/' -e \
	's/\<\(const \)\?\(Instruction \)\?i = \*(\?\(pc\|ci->u\.l\.savedpc\)++)\?;/fetched[0] = fetched[1]; fetched[1] = \3; &/' lvm.c
$(O)/tests/oracle/lines/%: tests/oracle/target/host.c $(HOST_SCRIPTS)
	$(call say,HOST,tests/oracle/lines/$*)
	$(Q)$(call build_host,$*,$@,$< -DWITH_FETCHES)

TEST_FILES += $(if $(findstring oracle,$(TESTS)),$(LINE_TARGETS))

# With a collector that says when it runs (target/collector.h): as compilers build it for programs that
# embed it, without exports.
COLLECTOR_HOSTS := $(foreach release,5.1.5 5.2.4 5.3.6 5.4.8 5.5.1,$(foreach way,gcc clang small lto,$(release)-$(way))) \
                   5.4.0-gcc 5.1.5-cxx 5.4.8-cxx 5.5.1-O0 5.4.8-shared 5.1.5-shared
ifeq ($(ARCH),arm64)
COLLECTOR_HOSTS += $(foreach release,5.1.5 5.2.4 5.3.6 5.4.8 5.5.1,$(release)-signed) 5.1.5-noframe 5.4.8-noframe
endif
COLLECTOR_TARGETS := $(COLLECTOR_HOSTS:%=$(O)/tests/oracle/collectors/%)
COLLECTOR_PATCH := $(addprefix tests/oracle/,truth.h target/collector.h target/collector.sed)

$(O)/tests/oracle/collectors/%: private export HOST_PATCH = cp $(COLLECTOR_PATCH:%=$(CURDIR)/%) . && \
	sed -E -i -f collector.sed lgc.c && : $(shell cat $(COLLECTOR_PATCH) | cksum)
$(O)/tests/oracle/collectors/%: tests/oracle/target/collector.c $(COLLECTOR_PATCH) $(HOST_SCRIPTS)
	$(call say,HOST,tests/oracle/collectors/$*)
	$(Q)$(call build_host,$*,$@,$< -Itests/oracle)

# Those of Luau.
COLLECTOR_LUAUS := 516-gcc 577-gcc 577-clang 577-lto 635-small 690-gcc 690-lto 727-longjmp \
                   $(foreach variant,gcc clang small lto native,736-$(variant))
ifeq ($(ARCH),arm64)
COLLECTOR_LUAUS := $(filter-out %-clang,$(COLLECTOR_LUAUS)) 736-signed
endif
COLLECTOR_TARGETS += $(COLLECTOR_LUAUS:%=$(O)/tests/oracle/collectors/luau_%)

$(O)/tests/oracle/collectors/luau_%: private export HOST_PATCH = cp $(COLLECTOR_PATCH:%=$(CURDIR)/%) . && \
	sed -E -i -f collector.sed lgc.cpp && : $(shell cat $(COLLECTOR_PATCH) | cksum)
$(O)/tests/oracle/collectors/luau_%: tests/programs/host_luau.cpp tests/oracle/target/collector_luau.c $(COLLECTOR_PATCH) $(LUAU_SCRIPT)
	$(call say,HOST,tests/oracle/collectors/luau_$*)
	$(Q)$(call build_luau,$*,$@,$(filter %.cpp %.c,$^) -DWITH_COLLECTOR -Itests/oracle)

TEST_FILES += $(if $(findstring oracle,$(TESTS)),$(COLLECTOR_TARGETS))

TEST_FILES += $(if $(findstring oracle,$(TESTS)),$(O)/tests/oracle/mappings.bpf.o)

# Exact however busy the machine is: a sample and its truth are of one interrupt.
SIDE_BY_SIDE += oracle/%
SIDE_BY_SIDE_FIRST += $(addprefix oracle/,test_oracle test_collector% test_lines)
