/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a timer tick costs a thread apart from running the BPF program: the interrupt, and the
 * kernel's path to the program and back, which BPF's own statistics do not include.
 */
#ifndef LS_TICK_COST_H
#define LS_TICK_COST_H

#include <stdint.h>

#include <bpf/libbpf.h>

/* If it cannot be measured: the cost on a virtual machine of 2020, rounded up. */
#define TICK_COST_DEFAULT_NS 2000

/*
 * Returns the cost on this machine, in nanoseconds. Runs `program`, which must ignore the calling
 * thread, on a timer of this thread, which reads the clock meanwhile: each tick shows as a gap
 * between two readings. The result is the median of a few dozen gaps, few of which have other
 * causes. Takes 2 ms, or up to 10 if it fails and returns TICK_COST_DEFAULT_NS.
 */
uint64_t tick_cost__measure(struct bpf_program *program);

#endif
