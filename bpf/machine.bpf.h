/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How x86-64 and AArch64 differ for the walkers: registers, addresses, calls. A BPF build selects
 * the architecture by __TARGET_ARCH_arm64, as libbpf's headers require; a user-space build is for
 * the architecture it runs on.
 */
#ifndef LS_MACHINE_BPF_H
#define LS_MACHINE_BPF_H

#include "target.bpf.h"

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

/* 2^48, or 2^52 if a program asks mmap() for it: Documentation/arch/arm64/memory.rst, Linux. */
#define LS_USER_MAX (1ULL << 52)

#define LS_REGISTER_COUNT 31 /* x0 .. x30 of struct user_pt_regs, asm/ptrace.h */
#define LS_PC(regs)       ((regs)->pc)

/* AAPCS64, 6.1.1 and 6.4.6: x29 points to the frame record, x30 is the link register. */
#define LS_HAS_FRAME_RECORDS 1
#define LS_FRAME_REGISTER    29
#define LS_LINK_REGISTER     30

#define LS_CALL_BYTES 4 /* size of BL and BLR, which precede the return address */

/* Registers that calls preserve. The others may hold leftovers of calls that have returned. */
static __always_inline int is_callee_saved(__u32 i)
{
	return i >= 19 && i <= 28; /* x19 .. x28 */
}

/*
 * Removes the pointer authentication code from a return address. It is in bits 48 to 54, or 52 to
 * 54 if addresses have 52 bits (ptrauth_user_pac_mask() in asm/pointer_auth.h, Linux). No code is
 * mapped above 2^48 unless a program asks for it.
 */
static __always_inline __u64 address_of_return(__u64 word)
{
	return word & ((1ULL << 48) - 1);
}

typedef __u32 ls_call_t; /* the bytes right before a return address */

static __always_inline int is_direct_call(ls_call_t call)
{
	return (call & 0xfc000000) == 0x94000000; /* BL imm26 */
}

static __always_inline __u64 callee_of(__u64 return_address, ls_call_t call)
{
	return return_address - sizeof(call) + (__u64)((__s64)((__u64)call << 38) >> 36);
}

static __always_inline int is_call_by_pointer(ls_call_t call)
{
	return (call & 0xfffffc1f) == 0xd63f0000; /* BLR */
}

/* A PLT stub: ADRP x16 and LDR x17, optionally after BTI. */
static __always_inline int is_stub(__u64 address)
{
	__u32 code[3];

	if (read_target(code, sizeof(code), address))
		return 0;
	if ((code[0] & 0xffffff3f) == 0xd503241f) { /* BTI */
		code[0] = code[1];
		code[1] = code[2];
	}
	return (code[0] & 0x9f00001f) == 0x90000010 && (code[1] & 0xffc003ff) == 0xf9400211;
}

#else

/* Documentation/arch/x86/x86_64/mm.rst, Linux; higher only if a program asks mmap() for it. */
#define LS_USER_MAX (1ULL << 47)

#define LS_REGISTER_COUNT 15 /* r15 .. rdi of struct pt_regs, asm/ptrace.h */
#define LS_PC(regs)       ((regs)->ip)

#define LS_HAS_FRAME_RECORDS 0

#define LS_CALL_BYTES 2 /* of the shortest call, through a register */

static __always_inline int is_callee_saved(__u32 i)
{
	return i < 6; /* r15, r14, r13, r12, rbp, rbx */
}

static __always_inline __u64 address_of_return(__u64 word)
{
	return word;
}

typedef __u64 ls_call_t; /* the bytes right before a return address */

static __always_inline int is_direct_call(ls_call_t call)
{
	return (call >> 24 & 0xff) == 0xe8; /* CALL rel32 */
}

static __always_inline __u64 callee_of(__u64 return_address, ls_call_t call)
{
	return return_address + (__u64)(__s64)(__s32)(call >> 32);
}

/* CALL r/m64 (FF /2) with a displacement of 32 or 8 bits from a register. */
static __always_inline int is_call_by_pointer(ls_call_t call)
{
	return (call >> 16 & 0xf8ff) == 0x90ff || (call >> 40 & 0xf8ff) == 0x50ff;
}

/* A PLT stub: a jump through a pointer, optionally after ENDBR64. */
static __always_inline int is_stub(__u64 address)
{
	__u64 start;

	if (read_target(&start, sizeof(start), address))
		return 0;
	return (start & 0xffff) == 0x25ff || (start >> 32 & 0xffff) == 0x25ff ||
	       (start >> 40 & 0xffff) == 0x25ff;
}

#endif

#endif
