/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions of an ELF file call which, directly; symbols are not needed. A tail call is a
 * call. A part that the compiler moved out of a function (".cold") is not a function of its own:
 * what it does, its function does.
 */
#ifndef LS_CALL_GRAPH_H
#define LS_CALL_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "function_table.h"
#include "machine_code.h"

struct call_graph {
	struct function_range *functions; /* in order of address, parts among them */
	size_t count;
	uint32_t *owners; /* of each: itself, or the function that it is a part of */
	/* private */
	struct call_graph_links {
		uint32_t *first; /* by function: where in `others`; count + 1 of them */
		uint32_t *others;
	} callees, callers;
};

/* Functions, by index. */
struct call_graph_set {
	const uint32_t *items; /* each once, ascending */
	size_t count;
};

/* Told what else code has (machine_code.h): stores and shifts, with the function they are in. */
struct call_graph_observer {
	void *context;
	void (*observe)(void *context, uint32_t function, const struct machine_event *event);
};

/*
 * `function` of an observed event may be a part: owners[] tells, once the graph is made. 0;
 * -ENOENT: the file does not say where functions begin; -E2BIG: more code than is looked at (256
 * MiB, 16 million calls); -ENOMEM. Free with call_graph__free(), also after a failure.
 */
int call_graph__read(const struct elf_file *file, const struct call_graph_observer *observer,
		     struct call_graph *graph);
void call_graph__free(struct call_graph *graph);

/* Of a function that is no part. */
struct call_graph_set call_graph__callees(const struct call_graph *graph, uint32_t function);
struct call_graph_set call_graph__callers(const struct call_graph *graph, uint32_t function);

#endif
