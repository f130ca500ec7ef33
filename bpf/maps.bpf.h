/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every map, each with why that size. Weak: each object file has them, the linker keeps one. */
#ifndef LS_MAPS_BPF_H
#define LS_MAPS_BPF_H

#include "scratch.bpf.h"
#include "target.h"

/* 10 kHz at depth 100 is 25 MB/s: room for 170 ms, of which the reader takes 50 between looks. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} records __weak SEC(".maps");

/* What found no room among the records, and must not be lost: 200 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, union ls_event);
} events __weak SEC(".maps");

/* By tgid. A host that runs more script processes than this at once is not known to exist. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} targets __weak SEC(".maps");

/* By what `targets` has, of which some share one: too large to be copied when a process forks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct ls_target);
} images __weak SEC(".maps");

/* By tid. A cache: a thread that falls out is looked at from scratch. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ls_thread);
} threads __weak SEC(".maps");

/* By tid. Asked only while the timers of a process are being attached. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ls_birth);
} births __weak SEC(".maps");

/* By tgid, system-wide. Asked when the program is found to be one to be sampled. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ls_execution);
} executions __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LS_LAYOUT_MAX);
	__type(key, __u32);
	__type(value, struct ls_puc_layout);
} layouts __weak SEC(".maps");

/* By CPU; user space sets the number. Not a per-CPU map: those end at 32 KiB a value. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_scratch);
} scratches __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_counters);
} counters __weak SEC(".maps");

/* By enum ls_family: the walkers that are loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, LS_FAMILY_COUNT);
	__type(key, __u32);
	__type(value, __u32);
} families __weak SEC(".maps");

static __always_inline struct ls_counters *counters_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline struct ls_scratch *scratch_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

#endif
