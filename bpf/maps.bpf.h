/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps that all programs share, and why they have that size. Weak: each object file has them,
 * the linker keeps one, and user space gives the walkers, which are objects of their own, those of
 * the same name. A walker has further maps: its scratch, its layouts.
 */
#ifndef LS_MAPS_BPF_H
#define LS_MAPS_BPF_H

#include "scratch.bpf.h"
#include "target.h"

/* 10 kHz at depth 100 is 25 MB/s: room for 170 ms. User space drains it at least every 50 ms. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} records __weak SEC(".maps");

/* Records that found no room in the ring buffer and must not be lost: 200 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, union ls_event);
} events __weak SEC(".maps");

/* By tgid; value: key of `images`. No host is known to run more Lua processes at the same time. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} targets __weak SEC(".maps");

/* By the values of `targets`. Forked processes share one: it is too large to copy at a fork. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct ls_image);
} images __weak SEC(".maps");

/* By tid. A cache: the next sample of an evicted thread starts from scratch. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ls_thread);
} threads __weak SEC(".maps");

/* By tid. User space reads it only while it attaches the timers of a process. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ls_birth);
} births __weak SEC(".maps");

/*
 * By the address of the task_struct: exiting threads that the kernel has not freed yet. These are
 * as many as exit within an RCU grace period, some 20 ms, plus zombies.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct ls_thread_exit);
} exits __weak SEC(".maps");

/* By tgid, system-wide. User space reads it when it decides to sample the program. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ls_execution);
} executions __weak SEC(".maps");

/* What the timer's program tells the walkers. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_tick);
} ticks __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_counters);
} counters __weak SEC(".maps");

/* By enum ls_family: the walkers that are loaded, and what serves LS_FAMILY_NONE. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, LS_FAMILY_NONE + 1);
	__type(key, __u32);
	__type(value, __u32);
} walkers __weak SEC(".maps");

static __always_inline struct ls_counters *counters_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline struct ls_tick *tick_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&ticks, &zero);
}

#endif
