# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What programs of others need that is not installed.

NGINX := $(O)/tests/field/nginx/root

$(NGINX): tests/field/unpack_nginx.sh tests/kernels/packages.sh
	$(call say,UNPACK,tests/field/nginx)
	$(Q)tests/field/unpack_nginx.sh $(@D) || [ $$? = 3 ]

$(O)/tests/field/second.so: tests/programs/second.c
	$(call say,CC,tests/field/$(@F))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -fPIC -shared $< -ldl -o $@

TEST_FILES += $(if $(findstring field,$(TESTS)),$(NGINX) $(O)/tests/field/second.so)

# They record one process each.
SIDE_BY_SIDE += field/%
