# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Over images of memory, at times that the tests make up. But test_captured takes them from programs
# that run, after milliseconds.

SIDE_BY_SIDE += $(filter-out walk/puc/test_captured,$(filter walk/%,$(TEST_SOURCES:tests/%.c=%)))
