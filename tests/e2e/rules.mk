# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A BPF program that no verifier takes.

ifneq ($(filter e2e e2e/sampler e2e/sampler/test_load_failure,$(TESTS)),)
TEST_FILES += $(O)/tests/e2e/refused.bpf.o
endif

# These record one process and set no limit on how long that takes.
SIDE_BY_SIDE += $(filter-out $(addprefix e2e/interpreter/,test_luajit_views test_luau test_luau_categories), \
                  $(filter e2e/interpreter/%,$(TEST_SOURCES:tests/%.c=%)))
SIDE_BY_SIDE += e2e/dump/%
SIDE_BY_SIDE += e2e/offline/%
SIDE_BY_SIDE += $(addprefix e2e/,command/test_faults command/test_views output/test_output \
                  process/test_first_thread sampler/test_walkers share/test_install share/test_package \
                  share/test_share targets/test_children targets/test_command top/test_top \
                  top/test_top_calls)

# These record every process, which must not include those of a test beside them. The others measure
# time, or keep all processors busy.
ISOLATED += $(addprefix e2e/,command/test_list \
              interpreter/test_luajit_views interpreter/test_luau interpreter/test_luau_categories \
              output/test_clock output/test_interval output/test_killed output/test_output_dir \
              output/test_output_folder session/test_control session/test_when \
              share/test_image share/test_service share/test_static \
              system/test_limits system/test_privileges system/test_rights \
              targets/test_merging top/test_top_limit top/test_top_system)

# It sees no process but its own.
SIDE_BY_SIDE += e2e/command/test_documented_commands
SIDE_BY_SIDE_FIRST += e2e/command/test_documented_commands
