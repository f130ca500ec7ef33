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

static __always_inline bool is_direct_call(ls_call_t call)
{
	return (call & 0xfc000000) == 0x94000000; /* BL imm26 */
}

static __always_inline __u64 callee_of(__u64 return_address, ls_call_t call)
{
	return return_address - sizeof(call) + (__u64)((__s64)((__u64)call << 38) >> 36);
}

/* BLR, or BLRAA and its like, which authenticate the pointer. */
static __always_inline bool is_call_by_pointer(ls_call_t call)
{
	return (call & 0xfefff000) == 0xd63f0000;
}

static __always_inline bool is_call_of_made_code(ls_call_t call)
{
	return (call & 0xfffffc1f) == 0xd63f0000; /* BLR */
}

/* All functions that call others keep frame records, or none do. */
static __always_inline bool saves_frame_pointer(__u64 address)
{
	(void)address;
	return true;
}

/* Returns the address of the pointer that the call before the address goes through; 0: none. */
static __always_inline __u64 pointer_of_call(__u64 return_address, ls_call_t call)
{
	(void)return_address;
	(void)call;
	return 0; /* a register has been loaded with it */
}

/*
 * Returns the address of the pointer that the PLT stub at `address` jumps through: ADRP x16 and LDR
 * x17, optionally after BTI. 0: it is no stub.
 */
static __always_inline __u64 pointer_of_stub(__u64 address)
{
	__u32 code[3];
	__s64 page;

	if (read_target(code, sizeof(code), address))
		return 0;
	if ((code[0] & 0xffffff3f) == 0xd503241f) { /* BTI */
		code[0] = code[1];
		code[1] = code[2];
		address += 4;
	}
	if ((code[0] & 0x9f00001f) != 0x90000010 || (code[1] & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (__s64)((__u64)(code[0] >> 5 & 0x7ffff) << 45 | (__u64)(code[0] >> 29 & 3) << 43) >>
	       31;
	return (address & ~0xfffULL) + (__u64)page + (code[1] >> 10 & 0xfff) * 8ULL;
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

static __always_inline bool is_direct_call(ls_call_t call)
{
	return (call >> 24 & 0xff) == 0xe8; /* CALL rel32 */
}

static __always_inline __u64 callee_of(__u64 return_address, ls_call_t call)
{
	return return_address + (__u64)(__s64)(__s32)(call >> 32);
}

/* CALL r/m64 (FF /2) with a displacement of 32 or 8 bits from a register. */
static __always_inline bool is_call_of_made_code(ls_call_t call)
{
	return (call >> 16 & 0xf8ff) == 0x90ff || (call >> 40 & 0xf8ff) == 0x50ff;
}

/* CALL r/m64 with any operand: ModRM is 0x10, 0x50, 0x90 or 0xd0 and more, and a SIB may follow. */
static __always_inline bool is_call_by_pointer(ls_call_t call)
{
	__u64 register_only = call >> 48 & 0xf8ff, without_displacement = call >> 40 & 0xffff;

	return register_only == 0xd0ff || register_only == 0x10ff ||
	       without_displacement == 0x14ff || (call >> 32 & 0xffff) == 0x54ff ||
	       (call >> 16 & 0xffff) == 0x15ff || (call >> 8 & 0xffff) == 0x94ff ||
	       is_call_of_made_code(call);
}

/*
 * Returns the address of the pointer that the call before `return_address` goes through: CALL
 * [RIP+disp32], as with -fno-plt. 0: none.
 */
static __always_inline __u64 pointer_of_call(__u64 return_address, ls_call_t call)
{
	return (call >> 16 & 0xffff) == 0x15ff ? callee_of(return_address, call) : 0;
}

/* Whether the function at `address` begins with PUSH RBP, optionally after ENDBR64. */
static __always_inline bool saves_frame_pointer(__u64 address)
{
	__u64 code;

	if (read_target(&code, sizeof(code), address))
		return false;
	if ((__u32)code == 0xfa1e0ff3)
		code >>= 32;
	return (__u8)code == 0x55;
}

/*
 * Returns the address of the pointer that the PLT stub at `address` jumps through: JMP
 * [RIP+disp32], optionally after ENDBR64 and BND. 0: it is no stub.
 */
static __always_inline __u64 pointer_of_stub(__u64 address)
{
	__u64 code[2];

	if (read_target(code, sizeof(code), address))
		return 0;
	if ((code[0] & 0xffff) == 0x25ff)
		return address + 6 + (__u64)(__s64)(__s32)(code[0] >> 16);
	if ((code[0] >> 32 & 0xffff) == 0x25ff)
		return address + 10 + (__u64)(__s64)(__s32)(code[0] >> 48 | code[1] << 16);
	if ((code[0] >> 40 & 0xffff) == 0x25ff)
		return address + 11 + (__u64)(__s64)(__s32)(code[0] >> 56 | code[1] << 8);
	return 0;
}

#endif

#endif
