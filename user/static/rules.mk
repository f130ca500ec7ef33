# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The same program in one file, without shared libraries. The sources beside this take the place of
# what glibc would load files for while it runs; the objects of all others are those of luaspy.

STATIC         := $(O)/static/luaspy
STATIC_OBJECTS := $(patsubst %.c,$(O)/%.o,$(wildcard user/static/[!w]*.c))
STATIC_LIBS     = $(eval STATIC_LIBS := $(DEMANGLER) $(call package,--static --libs,$(LIBRARIES)))$(STATIC_LIBS)
STRIP           = $(shell $(CC) -print-prog-name=strip)

# Compiles for the machine that builds.
HOSTCC ?= gcc

$(O)/widths.inc: user/static/widths.c | $(O)/
	$(call say,GEN,$(@F))
	$(Q)$(HOSTCC) -D_GNU_SOURCE $< -o $(O)/widths
	$(Q)$(O)/widths > $@

$(O)/terminals.inc: user/static/terminals.sh | $(O)/
	$(call say,GEN,$(@F))
	$(Q)$< > $@

$(O)/user/static/utf8.o: $(O)/widths.inc
$(O)/user/static/terminals.o: $(O)/terminals.inc

# The linker warns of functions that would load a shared library: no file may come to be that does.
$(STATIC): $(USER_OBJECTS) $(STATIC_OBJECTS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static-pie -Wl,--fatal-warnings -Wl,--wrap=setlocale $^ \
		$(STATIC_LIBS) -lm $(LDLIBS) -o $@.debug
	$(Q)$(STRIP) -o $@.new $@.debug
	$(Q)user/static/check.sh $@.new $(ARCH)
	$(Q)mv $@.new $@

#: static        builds luaspy as one file that needs no other, in .output/static/; ARCH=arm64
.PHONY: static
static: $(STATIC)
	@echo "$(STATIC): $$(wc -c < $(STATIC)) bytes, $(ARCH), no shared libraries"

# What luaspy is built against for another machine, as Debian has it.
ifneq ($(SYSROOT),)
$(SYSROOT):
	$(call say,SYSROOT,$@)
	$(Q)user/static/sysroot.sh $(ARCH:x86=amd64) $@
endif
