/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each function of a file does that tells the code of a VM from other code. */
#ifndef LS_GC_FACTS_H
#define LS_GC_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "elf/call_graph.h"
#include "gc/gc_finder.h"

/* What a function itself does, without its callees; by the index of the signs. */
struct function_facts {
	uint16_t states[GC_SIGNS_MAX]; /* values written to gcstate, a bit each */
	uint8_t operands[GC_SIGNS_MAX][2];
};

/* Set the signs, and zero the rest. */
struct gc_facts {
	const struct gc_signs *signs; /* borrowed */
	size_t signs_count;
	struct function_facts *items; /* by the function's index in the call graph */
	size_t count;
	int error; /* of gc_facts__observe() */
};

/* Takes in what a function does: for struct call_graph_observer, with a gc_facts as context. */
void gc_facts__observe(void *context, uint32_t function, const struct machine_event *event);

/* Attributes what a part of a function (".cold") writes to the function. 0 or -ENOMEM. */
int gc_facts__finish(struct gc_facts *facts, const struct call_graph *graph);

void gc_facts__free(struct gc_facts *facts);

#endif
