/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers of arm64; only vmlinux.h includes this. */
#ifndef LS_VMLINUX_REGISTERS_H
#define LS_VMLINUX_REGISTERS_H

/* arch/arm64/include/uapi/asm/ptrace.h */
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

typedef struct user_pt_regs bpf_user_pt_regs_t;

/* arch/arm64/include/asm/ptrace.h: what follows is the kernel's own. */
struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			__u64 regs[31];
			__u64 sp;
			__u64 pc;
			__u64 pstate;
		};
	};
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};

#pragma clang attribute pop

#endif
