# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What carries the program: a package of Debian, an image for containers.

# The time of all that is packed is that of the sources.
SOURCE_DATE_EPOCH ?= $(or $(if $(REVISION),$(shell git log -1 --format=%ct)),$(shell stat -c %Y Makefile))
export SOURCE_DATE_EPOCH

#: deb           builds a package for Debian, in .output/deb/; ARCH=arm64
# Of what was built. For another machine, what that one says of itself is what this one's says.
.PHONY: deb
ifeq ($(ARCH),$(MACHINE))
deb: $(if $(wildcard luaspy),,all)
	$(call say,DEB,$(O)/deb)
	$(Q)user/share/debian_package.sh ./luaspy $(O)/deb
else
deb: $(O)/luaspy
	@./luaspy --version >/dev/null || { echo "no ./luaspy for this machine ('make' builds it)" >&2; exit 1; }
	$(call say,DEB,$(O)/deb)
	$(Q)STRIP=$(STRIP) user/share/debian_package.sh ./luaspy $(O)/deb $(O)/luaspy '$(SYSROOT)'
endif

# For this machine, and for others whose static program was made: that one is made anew.
IMAGE    := $(O)/image/luaspy-$(VERSION).tar
OTHERS   := $(filter-out $(ARCH),x86 arm64)
IMAGE_OF := $(ARCH) $(foreach other,$(OTHERS),$(if $(wildcard $(O)/$(other)/static/luaspy),$(other)))
static_of = $(if $(filter $(ARCH),$(1)),$(STATIC),$(O)/$(1)/static/luaspy)

#: image         builds an OCI image of the static program, in .output/image/
.PHONY: image
image: $(STATIC)
	$(foreach other,$(filter-out $(ARCH),$(IMAGE_OF)),$(call make_static_of,$(other)))
	$(call say,IMAGE,$(IMAGE))
	@mkdir -p $(O)/image
	$(Q)user/share/image.sh $(IMAGE) $(VERSION) '$(REVISION)' \
		$(foreach each,$(IMAGE_OF),$(each)=$(call static_of,$(each)))
	@echo "$(IMAGE): $$(wc -c < $(IMAGE)) bytes, for $(IMAGE_OF)"

# What the command line says of the compiler is for this machine.
define make_static_of
$(Q)env -u MAKEFLAGS -u CC -u LDFLAGS -u PKG_CONFIG -u ARCH $(MAKE) -j$$(nproc) ARCH=$(1) O=$(O)/$(1) \
	V=$(V) WERROR=$(WERROR) static

endef

#: reproducible  builds static file, package and image twice and compares them
# For arm64, too, where its compiler is.
.PHONY: reproducible
reproducible:
	@tests/reproducible.sh $(MACHINE) \
		$(if $(shell command -v aarch64-linux-gnu-gcc),$(filter-out $(MACHINE),arm64))
