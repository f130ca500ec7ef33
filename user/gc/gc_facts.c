/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "gc/gc_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct gc_facts *facts, uint32_t function)
{
	size_t count = facts->count ? facts->count : 1024;
	struct function_facts *more;

	while (count <= function)
		count *= 2;
	if (count == facts->count)
		return 0;
	more = reallocarray(facts->items, count, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + facts->count, 0, (count - facts->count) * sizeof(*more));
	facts->items = more;
	facts->count = count;
	return 0;
}

static void note_event(const struct gc_signs *signs, const struct machine_event *event,
		       uint16_t *states, uint8_t operands[2])
{
	if (event->kind == MACHINE_STORE) {
		if (event->offset == signs->state_offset && event->value <= signs->last_state)
			*states |= 1u << event->value;
		return;
	}
	for (size_t i = 0; i < 2; i++)
		if (event->offset == signs->operand_shifts[i] && operands[i] < UINT8_MAX)
			operands[i]++;
}

void gc_facts__observe(void *context, uint32_t function, const struct machine_event *event)
{
	struct gc_facts *facts = context;
	struct function_facts *item;

	if (event->kind == MACHINE_STORE && (event->value < 0 || event->value > GC_STATE_MAX))
		return;
	if (make_room(facts, function)) {
		facts->error = -ENOMEM;
		return;
	}
	item = &facts->items[function];
	for (size_t i = 0; i < facts->signs_count; i++)
		note_event(&facts->signs[i], event, &item->states[i], item->operands[i]);
}

int gc_facts__finish(struct gc_facts *facts, const struct call_graph *graph)
{
	if (facts->error || make_room(facts, (uint32_t)graph->count))
		return -ENOMEM;
	for (size_t i = 0; i < graph->count; i++) {
		struct function_facts *item = &facts->items[graph->owners[i]];

		for (size_t j = 0; graph->owners[i] != i && j < facts->signs_count; j++)
			item->states[j] |= facts->items[i].states[j];
	}
	return 0;
}

void gc_facts__free(struct gc_facts *facts)
{
	free(facts->items);
}
