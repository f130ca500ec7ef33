# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that embed Lua, built from the sources of many releases in the ways in which programs do:
# $(O)/hosts/RELEASE-VARIANT (build_host.sh tells what variants there are). Where the sources or a
# compiler cannot be had the file does not come to be, and the tests that want it say so.

HOST_RELEASES := 5.1.5 5.2.4 5.3.5 5.3.6 5.4.0 5.4.1 5.4.2 5.4.3 5.4.4 5.4.6 5.4.7 5.4.8 5.4.9 5.5.0 5.5.1
HOST_VARIANTS := clang lto small cxx O0 shared

# Every release by gcc, one of each minor version in all ways.
HOSTS := $(HOST_RELEASES:%=$(O)/hosts/%-gcc) \
         $(foreach release,5.1.5 5.2.4 5.3.6 5.4.8 5.5.1,$(HOST_VARIANTS:%=$(O)/hosts/$(release)-%))

# What must be refused.
HOSTS += $(O)/hosts/5.4.8-m32 \
         $(foreach release,5.3.6 5.4.8 5.5.1,$(O)/hosts/$(release)-wide $(O)/hosts/$(release)-moved-call) \
         $(foreach release,5.1.5 5.3.6 5.4.8 5.5.1,$(O)/hosts/$(release)-moved-state $(O)/hosts/$(release)-moved-proto)

HOST_SCRIPTS := tests/hosts/build_host.sh tests/hosts/sources.sh

# $(call build_host,RELEASE-VARIANT,OUTPUT,WORDS)
build_host = name=$(1); tests/hosts/build_host.sh $${name%%-*} $${name\#*-} $(2) $(3) || [ $$? = 3 ]

LUAJIT_SCRIPT := tests/hosts/build_luajit.sh

# $(call build_luajit,RELEASE-VARIANT,OUTPUT,WORDS)
build_luajit = name=$(1); $(LUAJIT_SCRIPT) $${name%%-*} $${name\#*-} $(2) $(3) || [ $$? = 3 ]

$(O)/hosts/%: tests/programs/host.c $(HOST_SCRIPTS)
	$(call say,HOST,$*)
	$(Q)$(call build_host,$*,$@)

# The rule above makes it, with the program of the variant "shared".
$(O)/hosts/%.so: $(O)/hosts/% ;

# LuaJIT in the ways in which programs have it: build_luajit.sh tells them.
LUAJIT_HOSTS := $(foreach variant,gcc clang symbols shared nojit lua52 noffi noffi32 moved-state moved-proto \
                                  moved-lines moved-snapshots,rolling-$(variant)) \
                openresty-gcc 2020-gcc 2.0-gcc32
HOSTS += $(LUAJIT_HOSTS:%=$(O)/hosts/luajit_%)

$(O)/hosts/luajit_%: tests/programs/host.c $(LUAJIT_SCRIPT)
	$(call say,HOST,luajit_$*)
	$(Q)$(call build_luajit,$*,$@)

# Luau, by the numbers of its releases; the last six are forks, of which the first two must be refused.
LUAU_SCRIPT := tests/hosts/build_luau.sh
LUAU_HOSTS := 516-gcc 561-gcc 577-gcc 635-gcc 722-gcc 727-longjmp 736-gcc 736-vector4 736-native 736-dynamic \
              736-moved-call 736-moved-flags 736-moved-name 736-moved-proto 736-moved-lines 736-grown
HOSTS += $(LUAU_HOSTS:%=$(O)/hosts/luau_%)

# $(call build_luau,RELEASE-VARIANT,OUTPUT,WORDS)
build_luau = name=$(1); $(LUAU_SCRIPT) $${name%%-*} $${name\#*-} $(2) $(3) || [ $$? = 3 ]

$(O)/hosts/luau_%: tests/programs/host_luau.cpp $(LUAU_SCRIPT)
	$(call say,HOST,luau_$*)
	$(Q)$(call build_luau,$*,$@)

# Luau in a Rust program.
HOSTS += $(O)/hosts/mlua

$(O)/hosts/mlua: tests/hosts/build_mlua.sh $(wildcard tests/programs/host_mlua/* tests/programs/host_mlua/src/*)
	$(call say,HOST,mlua)
	$(Q)$< $@ || [ $$? = 3 ]

TEST_FILES += $(if $(filter accuracy% e2e% names%,$(TESTS)),$(HOSTS))
