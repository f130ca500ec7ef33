# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A BPF program that no verifier takes.

ifneq ($(filter e2e e2e/sampler e2e/sampler/test_load_failure,$(TESTS)),)
TEST_FILES += $(O)/tests/e2e/refused.bpf.o
endif

# These record one process and set no limit on how long that takes. The others record every process,
# which would include those of a test beside them, or compare times.
SIDE_BY_SIDE += $(filter-out $(addprefix e2e/interpreter/,test_luajit_views test_luau test_luau_categories), \
                  $(filter e2e/interpreter/%,$(TEST_SOURCES:tests/%.c=%)))
SIDE_BY_SIDE += e2e/dump/%
SIDE_BY_SIDE += e2e/offline/%
SIDE_BY_SIDE += $(addprefix e2e/,command/test_faults command/test_views output/test_output \
                  share/test_install share/test_package share/test_share \
                  targets/test_children targets/test_command top/test_top top/test_top_calls)

# It sees no process but its own.
SIDE_BY_SIDE += e2e/command/test_documented_commands
SIDE_BY_SIDE_FIRST += e2e/command/test_documented_commands
