/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types, as far as luaspy's BPF programs look into them.
 *
 * A generated vmlinux.h is three megabytes of one kernel's names, any of which may collide with
 * ours. Here only members that are used are declared: CO-RE finds where the running kernel keeps
 * them, so neither their order nor their offsets mean anything. What user space may see
 * (linux/bpf.h, the registers of a sample) is laid out as declared, and stands outside the
 * relocated part.
 *
 * `make VMLINUX=full` builds against the header of the running kernel instead, which tells whether
 * a member exists and whether our own names collide with the kernel's.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;

typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __s16 s16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;

typedef unsigned long size_t;
typedef int pid_t;

typedef _Bool bool;

enum {
	false = 0,
	true = 1,
};

/* linux/bpf.h */

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LRU_PERCPU_HASH = 10,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
};

enum {
	BPF_F_NO_PREALLOC = 1U << 0,
};

enum {
	BPF_F_CURRENT_CPU = 0xffffffffULL,
};

enum {
	BPF_RB_NO_WAKEUP = 1ULL << 0,
	BPF_RB_FORCE_WAKEUP = 1ULL << 1,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
	BPF_RB_CONS_POS = 2,
	BPF_RB_PROD_POS = 3,
};

struct bpf_pidns_info {
	__u32 pid;
	__u32 tgid;
};

#if defined(__TARGET_ARCH_x86)
#include "x86/registers.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arm64/registers.h"
#else
#error "no registers for this architecture (add vmlinux/<architecture>/registers.h)"
#endif

struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

/* A helper that not every kernel has. */
enum bpf_func_id {
	BPF_FUNC_find_vma = 180,
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

typedef atomic64_t atomic_long_t;

typedef struct {
	atomic_long_t a;
} local_t;

typedef struct {
	local_t a;
} local64_t;

/* Complete, unlike the others: an index that is not constant steps by the size declared here. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[];
};

/* Of a processor. */
struct rq {
	u64 clock;
	u64 clock_task;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	u64 exec_start;
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct signal_struct {
	atomic_t live;
	unsigned long long sum_sched_runtime;
};

struct maple_tree {
	void *ma_root;
};

struct maple_metadata {
	unsigned char end;
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
	struct maple_metadata meta;
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
	struct maple_metadata meta;
};

enum maple_type {
	maple_leaf_64 = 1,
	maple_arange_64 = 3,
};

/* Mappings lie in a tree of these up to Linux 6.0. */
struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct mm_struct {
	struct maple_tree mm_mt;
	atomic_t mm_users;
	unsigned long start_code;
	unsigned long start_stack;
	unsigned long start_brk;
	unsigned long brk;
};

struct vm_area_struct {
	struct mm_struct *vm_mm;
	unsigned long vm_start;
	unsigned long vm_end;
};

struct task_struct {
	unsigned int flags;
	struct sched_entity se;
	struct mm_struct *mm;
	pid_t pid;
	pid_t tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	char comm[16];
	struct signal_struct *signal;
	struct thread_struct thread;
	struct perf_event_context *perf_event_ctxp;
};

struct hw_perf_event {
	local64_t prev_count;
	u64 sample_period;
};

struct perf_event_context {
	u64 time;
	u64 timestamp;
};

struct perf_event {
	struct hw_perf_event hw;
	struct perf_event_context *ctx;
};

/* What the context of a perf_event program is to the kernel. */
struct bpf_perf_event_data_kern {
	struct perf_event *event;
};

struct linux_binprm;

#pragma clang attribute pop

#endif
