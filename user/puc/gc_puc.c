/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/gc_puc.h"

#include "gc/gc_finder.h"
#include "puc/layout_puc.h"

#define STATE_MAX 8 /* the highest gcstate of any release: lgc.h */

/* Right shifts that extract the operands B and C, in any order: lopcodes.h. */
static const uint8_t shifts_to_53[2] = {23, 14}, shifts_since_54[2] = {24, 16};

static struct gc_signs signs_of(const struct ls_puc_layout *layout)
{
	const uint8_t *shifts = layout->op_bits > 6 ? shifts_since_54 : shifts_to_53;

	return (struct gc_signs){
		.state_offset = (uint16_t)layout->global_gc_state,
		.last_state = STATE_MAX,
		.states_needed = 3,
		.executors = 1,
		.operand_shifts = {shifts[0], shifts[1]},
	};
}

int gc_puc__find(const struct elf_file *file, uint16_t layouts, struct gc_code *gc)
{
	struct gc_signs signs[GC_SIGNS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < layouts_puc_count; i++) {
		const struct gc_signs one = signs_of(&layouts_puc[i].offsets);
		size_t j = 0;

		if (!(layouts >> i & 1))
			continue;
		while (j < count && signs[j].state_offset != one.state_offset)
			j++;
		if (j == GC_SIGNS_MAX)
			continue;
		signs[j] = one;
		count += j == count;
	}
	return gc_finder__find(file, signs, count, gc);
}
