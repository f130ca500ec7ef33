# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A BPF program that no verifier takes.

ifneq ($(filter e2e e2e/sampler e2e/sampler/test_load_failure,$(TESTS)),)
TEST_FILES += $(O)/tests/e2e/refused.bpf.o
endif
