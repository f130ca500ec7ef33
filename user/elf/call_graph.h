/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The direct calls between the functions of an ELF file, found without symbols. A tail call counts
 * as a call. A part that the compiler moved out of a function (".cold") is not a function of its
 * own: the calls that it makes are those of its function.
 */
#ifndef LS_CALL_GRAPH_H
#define LS_CALL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/eh_frame.h"
#include "elf/elf_file.h"
#include "elf/machine_code.h"

struct call_graph {
	struct function_range *functions; /* by address, including parts */
	size_t count;
	uint32_t *owners;     /* of each function: itself, or the one that it is a part of */
	bool *is_tail_called; /* of each function: code of another one jumps to its start */
	/* private */
	struct call_graph_links {
		uint32_t *first; /* by function: index into `others`; count + 1 entries */
		uint32_t *others;
	} callees, callers;
};

/* Functions, by index. */
struct call_graph_set {
	const uint32_t *items; /* each once, ascending */
	size_t count;
};

/*
 * Receives the other events in the code (machine_code.h), stores and shifts, with the function that
 * contains each.
 */
struct call_graph_observer {
	void *context;
	void (*observe)(void *context, uint32_t function, const struct machine_event *event);
};

/*
 * Builds the graph. The `function` of an observed event may be a part; owners[] tells once the
 * graph is built. 0; -ENOENT: the file does not say where functions begin; -E2BIG: the file exceeds
 * the limits (256 MiB of code, 16 million branches); -ENOMEM. Free with call_graph__free(), also
 * after a failure.
 */
int call_graph__read(const struct elf_file *file, const struct call_graph_observer *observer,
		     struct call_graph *graph);
void call_graph__free(struct call_graph *graph);

/* `function` must not be a part. */
struct call_graph_set call_graph__callees(const struct call_graph *graph, uint32_t function);
struct call_graph_set call_graph__callers(const struct call_graph *graph, uint32_t function);

#endif
