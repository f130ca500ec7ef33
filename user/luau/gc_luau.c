/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/gc_luau.h"

#include "gc/gc_finder.h"

/*
 * Of all releases: gcstate of global_State, lstate.h, which goes from GCSpause to GCSsweep, lgc.h;
 * the operands B and C, LUAU_INSN_B() and LUAU_INSN_C() of Bytecode.h. luau_execute() has a variant
 * for code that a debugger steps through.
 */
static const struct gc_signs signs = {
	.state_offset = 33,
	.last_state = 4,
	.states_needed = 4,
	.executors = 2,
	.operand_shifts = {16, 24},
};

int gc_luau__find(const struct elf_file *file, struct gc_code *gc)
{
	return gc_finder__find(file, &signs, 1, gc);
}
