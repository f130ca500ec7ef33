# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The page is checked in as built, so that a build of luaspy needs no node. Who changes its sources
# builds it anew; tests/page/ compares.

PAGE_SOURCES := $(filter-out page.html,$(patsubst user/page/%,%,$(wildcard $(addprefix user/page/,\
                  *.ts */*.ts *.css *.html *.json *.mjs))))
PAGE_BUILD   := $(O)/page

#: page          builds user/page/page.html from its sources, with node
.PHONY: page
page: $(PAGE_BUILD)/page.html
	$(Q)cmp -s $< user/page/page.html || cp $< user/page/page.html

# In a folder of its own, beside the packages, which do not belong among the sources. A source that
# was moved must not stay there: what still asks for it by its old name would be built.
$(PAGE_BUILD)/page.html: $(addprefix user/page/,$(PAGE_SOURCES)) $(PAGE_BUILD)/packages
	$(call say,NODE,$(@F))
	$(Q)find $(@D) \( -name node_modules -o -name tests \) -prune -o -name '*.ts' -exec rm {} +
	$(Q)cd user/page && cp --parents $(PAGE_SOURCES) $(CURDIR)/$(@D)/
	$(Q)cd $(@D) && node build.mjs page.html

$(PAGE_BUILD)/packages: user/page/package.json user/page/package-lock.json
	$(call say,NPM,$(@D))
	@mkdir -p $(@D)
	$(Q)cp $^ $(@D)/
	$(Q)cd $(@D) && $(NPM) ci
	@touch $@
