# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Not a test: built without sanitizers, and by run.sh alone.

$(O)/tests/bench/empty_timer: tests/bench/empty_timer.c $(O)/user.flags
	$(call say,CC,tests/bench/empty_timer)
	@mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) $(LDFLAGS) $< $(LIBRARY_LIBS) $(LDLIBS) -o $@
