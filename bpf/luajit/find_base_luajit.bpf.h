/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds BASE, the place of the running function on the stack of values, and PC, its next
 * instruction.
 *
 * The VM keeps both in registers and stores them in L->base and in its C frame only before calls
 * that need them. So:
 *
 * - SP is at the VM's C frame: the VM itself runs, and both are in their registers.
 * - A trace or its callee runs: jit_base is BASE of the function that the trace began in.
 * - A C function or the garbage collector runs: L->base is BASE.
 * - The VM has called a helper: BASE is in L->base, or where the helper saved BASE's register.
 *
 * A function at BASE is not enough: a call writes its frame after BASE, and a return copies results
 * over it. So PC decides: it lies in the bytecode of the running function. If it does not, it is
 * the link to the caller, and the caller runs. Which registers these are, and what else they hold
 * during calls and returns, differs by machine.
 */
#ifndef LS_FIND_BASE_LUAJIT_BPF_H
#define LS_FIND_BASE_LUAJIT_BPF_H

#include "machine.bpf.h"

#if LS_HAS_FRAME_RECORDS
#include "luajit/find_base_luajit_arm64.bpf.h"
#else
#include "luajit/find_base_luajit_x86.bpf.h"
#endif

#ifndef __bpf__
/*
 * Registers are unknown if the thread does not run. Before it called a helper that makes a system
 * call, the VM saved BASE and PC. Returns LS_WALK_NONE or the error.
 */
static __always_inline int find_base_without_registers(struct ls_scratch *scratch)
{
	__s32 vm_state = scratch->global.vm_state;

	if (scratch->chain[0].anchor == scratch->sp ||
	    (!scratch->walk.in_system_call && vm_state != LS_LUAJIT_IN_C &&
	     vm_state != LS_LUAJIT_IN_GC && vm_state != LS_LUAJIT_IN_EXIT)) {
		scratch->walk.lacks_registers = 1;
		return LS_WALK_REGISTERS;
	}
	return found(scratch, scratch->state.base, scratch->walk.cframe.pc);
}
#endif

/*
 * Sets scratch->base and walk.in_trace for the running state, copied to scratch->state and
 * walk.cframe. Returns LS_WALK_NONE or the error. __noinline: verified once for all callers.
 */
__noinline int find_base(struct ls_scratch *scratch, const struct ls_luajit_layout *layout)
{
	const struct ls_luajit_global *global;
	bool is_in_vm;

	if (!scratch || !layout)
		return LS_WALK_FRAME_FUNCTION;
	global = &scratch->global;
	is_in_vm = scratch->chain[0].anchor == scratch->sp;
	scratch->walk.in_trace = 0;
#ifndef __bpf__
	if (!scratch->register_count && (is_in_vm || !global->jit_base)) {
		scratch->walk.in_trace = global->vm_state == LS_LUAJIT_IN_EXIT;
		return find_base_without_registers(scratch);
	}
#endif
	if (is_in_vm)
		return find_base_in_vm(scratch);
	if (global->jit_base) {
		scratch->walk.in_trace = 1;
		return found(scratch, global->jit_base, 0);
	}
	scratch->walk.in_trace = global->vm_state == LS_LUAJIT_IN_EXIT;
	if (global->vm_state == LS_LUAJIT_IN_C || global->vm_state == LS_LUAJIT_IN_GC ||
	    global->vm_state == LS_LUAJIT_IN_EXIT)
		return found(scratch, scratch->state.base, scratch->walk.cframe.pc);
	return find_base_of_helper(scratch, layout);
}

#endif
