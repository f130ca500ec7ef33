/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a tick of a timer takes from a thread besides what its program does: the interrupt, and the
 * kernel's way to the program and back, which BPF's own statistics do not show.
 */
#ifndef LS_TICK_COST_H
#define LS_TICK_COST_H

#include <stdint.h>

#include <bpf/libbpf.h>

/* Where it cannot be measured: what a virtual machine of 2020 takes, rounded up. */
#define TICK_COST_DEFAULT_NS 2000

/*
 * Of this machine, in nanoseconds. Has `program`, which must pass the calling thread over, run on
 * timers of this thread, which reads the clock meanwhile: whenever a tick came, two readings lie
 * that far apart. The median of some dozen gaps; others than ticks make few of them. Takes 2 ms,
 * or 10 where it fails and says the default.
 */
uint64_t tick_cost__measure(struct bpf_program *program);

#endif
