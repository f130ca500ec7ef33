/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers of x86-64; only vmlinux.h includes this. */
#ifndef LS_VMLINUX_REGISTERS_H
#define LS_VMLINUX_REGISTERS_H

/* arch/x86/include/asm/ptrace.h; the layout is that of asm/ptrace.h for user space. */
struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long flags;
	unsigned long sp;
	unsigned long ss;
};

typedef struct pt_regs bpf_user_pt_regs_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_struct {
	unsigned long fsbase;
};

#pragma clang attribute pop

#endif
