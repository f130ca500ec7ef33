# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make help lists the targets: it prints the lines that begin with '#:', here and in each rules.mk.
#
# V=1 shows the commands, WERROR=1 makes warnings errors. CC, CLANG, BPFTOOL, CFLAGS, LDFLAGS,
# PREFIX, DESTDIR and ARCH (x86, arm64) are yours. VMLINUX=full builds against the types of the
# running kernel, VMLINUX_H=FILE against those in FILE, instead of the few in vmlinux/.

VERSION := 0.1.0
PREFIX  ?= /usr/local
O       ?= .output

comma := ,
empty :=

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.SECONDARY:
.DEFAULT_GOAL := all

MACHINE    := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(shell uname -m)))
ARCH       ?= $(MACHINE)
CLANG      ?= clang
PKG_CONFIG ?= pkg-config
CFLAGS     ?= -O2 -g

# For another machine: in a folder of its own, by Debian's compiler for it. SYSROOT has what is
# linked; it is downloaded if it is not there.
ifneq ($(ARCH),$(MACHINE))
ifeq ($(origin O),file)
O          := $(O)/$(ARCH)
endif
ifeq ($(origin CC),default)
CROSS      := $(if $(filter arm64,$(ARCH)),aarch64,x86_64)-linux-gnu
SYSROOT    ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/luaspy/sysroot-$(ARCH)
CC         := $(CROSS)-gcc --sysroot=$(SYSROOT)
LDFLAGS    += $(addprefix -Wl$(comma)-rpath-link$(comma)$(SYSROOT),/lib/$(CROSS) /usr/lib/$(CROSS))
PKG_CONFIG := env PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
              PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(CROSS)/pkgconfig $(PKG_CONFIG)
endif
endif

ifeq ($(origin CC),default)
CC := gcc
endif

# Where the network does not answer, npm would retry for ten minutes and more.
NPM := timeout 300 npm --silent --no-audit --no-fund --ignore-scripts --fetch-timeout=30000 --fetch-retries=1

ifeq ($(V),1)
say =
Q   =
else
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
Q   = @
endif

# ---- what there is

# FURTHER is a folder with further families of interpreters, in folders like these, for tests.
BPF_SOURCES  := $(wildcard $(foreach bpf,bpf $(FURTHER:%=%/bpf),$(bpf)/*.bpf.c $(bpf)/*/*.bpf.c))
USER_SOURCES := $(filter-out user/static/%,$(wildcard user/*.c user/*/*.c $(FURTHER:%=%/user/*/*.c)))
BPF_OBJECTS  := $(BPF_SOURCES:%.c=$(O)/%.o)
WALKERS      := $(filter-out walk_nothing,$(patsubst %.bpf.c,%,$(filter walk_%,$(notdir $(BPF_SOURCES)))))
USER_OBJECTS := $(USER_SOURCES:%.c=$(O)/%.o)
OLD_OBJECTS  := $(BPF_SOURCES:%.c=$(O)/old/%.o)
SKELETONS    := $(foreach name,luaspy $(WALKERS),$(O)/$(name).skel.h $(O)/$(name)_old.skel.h)
GENERATED    := $(SKELETONS) $(O)/system_calls.inc $(O)/page.inc

# Tests link all of the program but its main(), built with sanitizers.
ASAN_OBJECTS := $(patsubst %.c,$(O)/asan/%.o,$(filter-out user/main.c,$(USER_SOURCES)))

# TESTS names directories below tests/, or test programs in them; the order is that of running.
TESTS         ?= unit walk names formats fuzz page e2e toy hostile field accuracy oracle
ifeq ($(TESTS),quick)
override TESTS := unit walk e2e/interpreter/test_versions
endif
TEST_SOURCES  := $(foreach t,$(TESTS),$(if $(wildcard tests/$t.c),tests/$t.c,$(sort $(wildcard tests/$t/test_*.c tests/$t/*/test_*.c))))
TEST_PROGRAMS := $(TEST_SOURCES:tests/%.c=$(O)/tests/%)

# ---- tools and flags

# Debian keeps bpftool in /usr/sbin, which is in root's PATH only; Ubuntu beside its kernels' tools,
# where the one in PATH is a script that fails unless the running kernel's are installed.
BPFTOOL ?= $(firstword $(shell for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool; \
             do "$$tool" version >/dev/null 2>&1 && echo "$$tool"; done; true) bpftool)

# $(call package,--cflags,libelf zlib): asked when a recipe needs it, for `make demo` may have to
# install the packages first.
package = $(shell $(PKG_CONFIG) $(1) $(2))$(if $(filter-out 0,$(.SHELLSTATUS)),$(error \
            cannot find one of these by pkg-config: $(2) (try 'tests/install_dependencies.sh')))

LIBRARIES      := libbpf libelf zlib ncursesw
TEST_LIBRARIES := cmocka jansson

WARNINGS := -Wall -Wextra $(if $(WERROR),-Werror)

# The same sources give the same bytes, in whatever folder they are built.
PREFIX_MAP := '-ffile-prefix-map=$(CURDIR)=.'

# The scratch of a walker has the members of other structs as its own: bpf/scratch.bpf.h.
EMBEDDING := -fms-extensions $(if $(findstring clang,$(CC)),-Wno-microsoft-anon-tag)

# -D_GNU_SOURCE= so that a file may still define it.
USER_CFLAGS = -std=gnu11 $(EMBEDDING) $(WARNINGS) -D_GNU_SOURCE= $(FURTHER:%=-I%/include) -Iinclude -Ibpf -Iuser -I$(O) $(LIBRARY_CFLAGS) \
              $(if $(DEMANGLER),-DHAS_DEMANGLER) \
              $(CPPFLAGS) $(CFLAGS) $(PREFIX_MAP)
TEST_CFLAGS = -Itests/support $(TEST_LIBRARY_CFLAGS)
ASAN_CFLAGS = $(USER_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
              -fno-omit-frame-pointer

# libsupc++.a demangles the symbols of C++ programs. It is an archive, so luaspy needs no library for
# it at run time. Debian's clang depends on it. Without it, luaspy shows such symbols as they are.
DEMANGLER = $(eval DEMANGLER := $(shell file=$$($(CC) -print-file-name=libsupc++.a) && \
            test -e "$$file" && echo "$$file"))$(DEMANGLER)

LIBRARY_CFLAGS      = $(eval LIBRARY_CFLAGS := $(call package,--cflags,$(LIBRARIES)))$(LIBRARY_CFLAGS)
LIBRARY_LIBS        = $(eval LIBRARY_LIBS := $(DEMANGLER) $(call package,--libs,$(LIBRARIES)))$(LIBRARY_LIBS)
TEST_LIBRARY_CFLAGS = $(eval TEST_LIBRARY_CFLAGS := $(call package,--cflags,$(TEST_LIBRARIES)))$(TEST_LIBRARY_CFLAGS)
TEST_LIBRARY_LIBS   = $(eval TEST_LIBRARY_LIBS := $(call package,--libs,$(TEST_LIBRARIES)))$(TEST_LIBRARY_LIBS)

ifneq ($(VMLINUX_H),)
VMLINUX_DIR := $(O)/vmlinux-given
else ifeq ($(VMLINUX),full)
VMLINUX_DIR := $(O)/vmlinux
else
VMLINUX_DIR := vmlinux
endif

# BPF_PROG() declares parameters that a program may not use, hence -Wno-unused-parameter.
BPF_CFLAGS = -target bpf -mcpu=v3 -O2 -g -fno-stack-protector -D__TARGET_ARCH_$(ARCH) $(WARNINGS) \
             -fms-extensions -Wno-microsoft-anon-tag -Wno-unused-parameter -I$(VMLINUX_DIR) $(FURTHER:%=-I%/include) -Iinclude -Ibpf \
             $(LIBRARY_CFLAGS) $(PREFIX_MAP)

# With the revision where this is a checkout of its own, not a folder inside somebody else's.
REVISION := $(if $(wildcard .git),$(shell git rev-parse --short HEAD 2>/dev/null))
MODIFIED := $(if $(REVISION),$(shell git diff --quiet HEAD -- 2>/dev/null || echo modified))
VERSION_STRING := $(VERSION)$(if $(REVISION),$(empty) ($(REVISION)$(if $(MODIFIED),$(comma) modified)))

# Only what shows the version is built anew when it changes.
VERSION_OBJECTS := $(patsubst %.c,%.o,$(shell grep -sl LUASPY_VERSION $(USER_SOURCES) /dev/null))

# ---- the program

#: all           builds ./luaspy; the default
.PHONY: all
all: luaspy

luaspy $(O)/luaspy: $(USER_OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBRARY_LIBS) -lm $(LDLIBS) -o $@

define compile_user
	$(call say,CC,$*.o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) -MMD -MP -c $< -o $@
endef

$(O)/user/%.o: user/%.c $(O)/user.flags | $(GENERATED)
	$(compile_user)

ifneq ($(FURTHER),)
$(O)/$(FURTHER)/user/%.o: $(FURTHER)/user/%.c $(O)/user.flags | $(GENERATED)
	$(compile_user)
endif

$(O)/asan/user/%.o: user/%.c $(O)/asan.flags | $(GENERATED)
	$(call say,CC,asan/$*.o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ASAN_CFLAGS) -MMD -MP -c $< -o $@

$(addprefix $(O)/,$(VERSION_OBJECTS)) $(addprefix $(O)/asan/,$(VERSION_OBJECTS)): $(O)/version.flags
$(addprefix $(O)/,$(VERSION_OBJECTS)) $(addprefix $(O)/asan/,$(VERSION_OBJECTS)): \
	private CPPFLAGS += -DLUASPY_VERSION='"$(VERSION_STRING)"'

$(SKELETONS): $(O)/%.skel.h: $(O)/%.bpf.o
	$(call say,SKEL,$(@F))
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# The numbers of the machine that is built for, by the compiler's own headers.
$(O)/system_calls.inc: user/dump/system_calls.sh | $(O)/
	$(call say,GEN,$(@F))
	$(Q)CC='$(CC)' $< > $@

# The page that user/page/ has built: with node only where its sources change.
$(O)/page.inc: user/page/embed.sh user/page/page.html | $(O)/
	$(call say,GEN,$(@F))
	$(Q)$^ > $@

# A walker of a family is an object of its own; all else is the core. The same programs for kernels
# before 6.1 have names with `_old` (bpf/repeat.bpf.h).
WALKER_OBJECTS := $(WALKERS:%=$(O)/%.bpf.o) $(WALKERS:%=$(O)/%_old.bpf.o)

object_of = $(filter %/$(1).bpf.o,$(2))

$(O)/luaspy.bpf.o:     $(filter-out $(foreach name,$(WALKERS),%/$(name).bpf.o),$(BPF_OBJECTS))
$(O)/luaspy_old.bpf.o: $(filter-out $(foreach name,$(WALKERS),%/$(name).bpf.o),$(OLD_OBJECTS))
$(WALKERS:%=$(O)/%.bpf.o):     $(O)/%.bpf.o: $$(call object_of,$$*,$(BPF_OBJECTS))
$(WALKERS:%=$(O)/%_old.bpf.o): $(O)/%_old.bpf.o: $$(call object_of,$$*,$(OLD_OBJECTS))
$(O)/luaspy.bpf.o $(O)/luaspy_old.bpf.o $(WALKER_OBJECTS):
	$(call say,BPFLINK,$(@F))
	$(Q)$(BPFTOOL) gen object $@ $^

define compile_bpf
	$(call say,BPF,$(@:$(O)/%=%))
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
endef

$(BPF_OBJECTS): $(O)/%.o: %.c $(O)/bpf.flags | $(VMLINUX_DIR)/vmlinux.h
	$(compile_bpf)

$(OLD_OBJECTS): private BPF_CFLAGS += -DLS_OLD_KERNEL
$(OLD_OBJECTS): $(O)/old/%.o: %.c $(O)/bpf.flags | $(VMLINUX_DIR)/vmlinux.h
	$(compile_bpf)

#: vmlinux       dumps all types of the running kernel, for VMLINUX=full
.PHONY: vmlinux
vmlinux:
	$(call say,BTF,$(O)/vmlinux/vmlinux.h)
	$(Q)BPFTOOL='$(BPFTOOL)' vmlinux/generate.sh $(O)/vmlinux/vmlinux.h

$(O)/vmlinux/vmlinux.h:
	$(call say,BTF,$@)
	$(Q)BPFTOOL='$(BPFTOOL)' vmlinux/generate.sh $@

$(O)/vmlinux-given/vmlinux.h: $(VMLINUX_H)
	@mkdir -p $(@D)
	$(Q)cp $< $@

# ---- a change of flags rebuilds what was built with others

$(O)/bpf.flags:     flags = $(CLANG) $(BPF_CFLAGS)
$(O)/user.flags:    flags = $(CC) $(USER_CFLAGS)
$(O)/asan.flags:    flags = $(CC) $(ASAN_CFLAGS)
$(O)/version.flags: flags = $(VERSION_STRING)

# By name, not by the pattern alone: make takes a file that only patterns name for an intermediate one,
# and looks through it at FORCE, so that a new test program would rebuild every object.
FLAGS := $(patsubst %,$(O)/%.flags,bpf user asan version fuzz)

$(FLAGS): $(O)/%.flags: FORCE | $(O)/ $(SYSROOT)
	$(file >$@.new,$(flags))
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(O)/:
	@mkdir -p $@

.PHONY: FORCE
FORCE:

# ---- tests
#
# tests/DIR/test_*.c and tests/DIR/ROOM/test_*.c are cmocka programs. Each is linked with the other
# .c files of its folders and of tests/support/. What else a folder needs built, its rules.mk says,
# by adding to TEST_FILES; tests/DIR/x.bpf.c becomes $(O)/tests/DIR/x.bpf.o.

# $(call folders_of,unit/base/test_log): those of a test program below tests/
folders_of = $(dir $(1)) $(filter-out ./,$(dir $(patsubst %/,%,$(dir $(1)))))
sources_beside = $(filter-out $(foreach folder,$(call folders_of,$(1)),tests/$(folder)test_%) %.bpf.c,\
                   $(wildcard $(foreach folder,$(call folders_of,$(1)),tests/$(folder)*.c) tests/support/*.c))
objects_beside = $(patsubst %.c,$(O)/asan/%.o,$(call sources_beside,$(1)))
# $(call folders_included,unit/base/test_log): the flags that find the headers of these folders
folders_included = $(patsubst %,-Itests/%,$(call folders_of,$(1)))

$(O)/tests/%: $(O)/asan/tests/%.o $$(call objects_beside,$$*) $(ASAN_OBJECTS)
	$(call say,LINK,tests/$*)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ASAN_CFLAGS) $(LDFLAGS) $^ $(LIBRARY_LIBS) $(TEST_LIBRARY_LIBS) -lm $(LDLIBS) -o $@

$(O)/asan/tests/%.o: tests/%.c $(O)/asan.flags | $(GENERATED)
	$(call say,CC,tests/$*.o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ASAN_CFLAGS) $(TEST_CFLAGS) $(call folders_included,$*) -MMD -MP -c $< -o $@

$(O)/tests/%.bpf.o: tests/%.bpf.c $(O)/bpf.flags | $(VMLINUX_DIR)/vmlinux.h
	$(call say,BPF,tests/$*.bpf.o)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

-include $(wildcard user/*/rules.mk)

# The programs, as patterns, that may run beside each other: none measures time, or is disturbed by
# what else the machine does. Those in ISOLATED may, too, if they see no processes but their own.
# SIDE_BY_SIDE_FIRST names those that take minutes: they start first, so that none of them runs alone
# at the end. A folder's rules.mk adds to all three.
SIDE_BY_SIDE :=
ISOLATED :=
SIDE_BY_SIDE_FIRST :=

TEST_FILES :=
-include $(wildcard tests/*/rules.mk)

.PHONY: test-programs
test-programs: $(TEST_PROGRAMS) $(TEST_FILES)

#: check         builds and runs the tests: all, TESTS=quick (3 minutes), TESTS="unit e2e/top/test_top"
.PHONY: check
check:
	@tests/install_dependencies.sh build test
	@$(MAKE) all test-programs
	@OUTPUT=$(O) SIDE_BY_SIDE='$(filter $(SIDE_BY_SIDE:%=$(O)/tests/%),$(TEST_PROGRAMS))' \
		ISOLATED='$(filter $(ISOLATED:%=$(O)/tests/%),$(TEST_PROGRAMS))' \
		tests/run.sh $(filter $(SIDE_BY_SIDE_FIRST:%=$(O)/tests/%),$(TEST_PROGRAMS)) \
			$(filter-out $(SIDE_BY_SIDE_FIRST:%=$(O)/tests/%),$(TEST_PROGRAMS))

#: hosts         builds the interpreters that the tests run: Lua 5.1 to 5.5, LuaJIT, Luau
.PHONY: hosts
hosts: $(HOSTS)

#: kernels       boots kernels of Debian and runs luaspy in them; KERNELS="6.1-* arm64-*" chooses
.PHONY: kernels
kernels:
	@tests/install_dependencies.sh build test kernels
	@OUTPUT=$(O) MAKE='$(MAKE)' tests/kernels/run.sh

#: oracle        compares ORACLE_SAMPLES (100,000) stacks of each build with what it publishes
.PHONY: oracle
oracle:
	@TEST_TIMEOUT=7200 ORACLE_SAMPLES=$${ORACLE_SAMPLES:-100000} $(MAKE) check TESTS=oracle

#: bench         measures what a sample and a session cost
.PHONY: bench
bench: all
	@$(if $(wildcard tests/bench/run.sh),,$(error cannot find 'tests/bench/run.sh'))
	@OUTPUT=$(O) tests/bench/run.sh

#: deps          installs the packages that building, tests and lint lack; demo and check do, too
.PHONY: deps
deps:
	@tests/install_dependencies.sh build demo test extra page kernels lint

#: demo          profiles a real Lua program and shows the result
.PHONY: demo
demo:
	@tests/install_dependencies.sh build demo
	@$(MAKE) all
	@OUTPUT=$(O) tests/demo.sh

#: lint          checks the layout of text, lengths and layers
.PHONY: lint
lint:
	@tests/install_dependencies.sh lint
	@tests/lint.sh

# ---- around it

# The manual and what shells complete are made of what the program says of itself.
define install_shared
	$(call say,INSTALL,$(DESTDIR)$(PREFIX)/share/$(1))
	$(Q)mkdir -p $(O) && sh user/share/$(2) ./luaspy > $(O)/shared
	$(Q)$(INSTALL) put 644 $(O)/shared $(PREFIX)/share/$(1)

endef

# It keeps a list of the folders that it makes, for uninstall.
INSTALL := user/share/install.sh '$(DESTDIR)' $(PREFIX)/share/luaspy/folders

COMMANDS      := record top dump list check report open convert merge trim diff
MANUALS       := $(patsubst %,man/man1/%.1,luaspy $(COMMANDS:%=luaspy-%))
GUIDES        := $(patsubst user/share/doc/%.md,man/man7/luaspy-%.7,$(wildcard user/share/doc/*.md))
COMPLETE_BASH := bash-completion/completions/luaspy
COMPLETE_ZSH  := zsh/site-functions/_luaspy
COMPLETE_FISH := fish/vendor_completions.d/luaspy.fish

# Where systemd looks for units of PREFIX. Nothing enables or starts it.
UNIT := lib/systemd/system/luaspy.service

# Enough to run without sudo, for whoever may execute the file.
CAPABILITIES := cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore+ep

#: install       installs program, manual, completion and unit; PREFIX, DESTDIR, SETCAP=1
# What was built is what is installed: root, without the builder's variables, rebuilds nothing.
# SETCAP=1 gives the program its capabilities, so that it needs no sudo.
.PHONY: install
install: $(if $(wildcard luaspy),,all)
	$(call say,INSTALL,$(DESTDIR)$(PREFIX)/bin/luaspy)
	$(Q)$(INSTALL) put 755 luaspy $(PREFIX)/bin/luaspy
	$(foreach page,$(MANUALS),$(call install_shared,$(page),manual.sh $(basename $(notdir $(page)))))
	$(foreach page,$(GUIDES),$(call install_shared,$(page),guide.sh $(page:man/man7/luaspy-%.7=%)))
	$(call install_shared,$(COMPLETE_BASH),completion.sh bash)
	$(call install_shared,$(COMPLETE_ZSH),completion.sh zsh)
	$(call install_shared,$(COMPLETE_FISH),completion.sh fish)
	$(call say,INSTALL,$(DESTDIR)$(PREFIX)/$(UNIT))
	$(Q)sed 's|@PREFIX@|$(PREFIX)|' user/share/luaspy.service.in > $(O)/shared
	$(Q)$(INSTALL) put 644 $(O)/shared $(PREFIX)/$(UNIT)
ifneq ($(SETCAP),)
	$(Q)setcap $(CAPABILITIES) $(DESTDIR)$(PREFIX)/bin/luaspy
else ifeq ($(DESTDIR),)
	@echo "luaspy needs sudo. With SETCAP=1 it does not: all who may execute it may profile any process."
	@echo "To run it as a service: 'systemctl daemon-reload && systemctl enable --now luaspy'"
endif

#: uninstall     removes what install installed
.PHONY: uninstall
uninstall:
	$(call say,REMOVE,$(DESTDIR)$(PREFIX)/bin/luaspy)
	$(Q)$(INSTALL) remove $(addprefix $(PREFIX)/,bin/luaspy $(UNIT)) \
		$(addprefix $(PREFIX)/share/,$(MANUALS) $(GUIDES) $(COMPLETE_BASH) $(COMPLETE_ZSH) $(COMPLETE_FISH))

#: clean         removes what was built
.PHONY: clean
clean:
	$(call say,CLEAN,$(O) luaspy)
	$(Q)rm -rf $(O) luaspy

.PHONY: help
help:
	@sed -n 's/^#: /make /p' $(filter %Makefile %rules.mk,$(MAKEFILE_LIST))
	@echo "The Makefile's first lines say what may be set."

-include $(wildcard $(addprefix $(O)/,*/*.d */*/*.d */*/*/*.d */*/*/*/*.d))
