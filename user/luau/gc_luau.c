/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/gc_luau.h"

#include "gc/gc_finder.h"

/*
 * The same in all releases: the offset of gcstate in global_State (lstate.h), its states GCSpause
 * to GCSsweep (lgc.h), and the operands B and C (LUAU_INSN_B() and LUAU_INSN_C(), Bytecode.h).
 * luau_execute() has a second instance for single-stepping in a debugger.
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
