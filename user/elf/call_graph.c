/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/call_graph.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_LIMIT   (256u << 20)
#define BRANCH_LIMIT (16u << 20)
#define NOBODY       UINT32_MAX
#define MANY         (UINT32_MAX - 1)

struct branch {
	uint32_t from, to;
};

/* How a function is reached, which tells parts from functions. */
struct reached {
	uint32_t by_jump; /* the only function that jumps to it, NOBODY or MANY */
	bool by_call;
	bool is_left_for; /* it jumps back into the middle of that function */
};

struct reading {
	struct call_graph *graph;
	const struct call_graph_observer *observer;
	struct reached *reached;
	struct branch *branches; /* to the starts of functions */
	size_t branch_count, branch_room;
	struct branch *returns; /* jumps into the middle of functions */
	size_t return_count, return_room;
	uint32_t function;  /* the one being read */
	uint64_t low, high; /* address range of all functions */
	int error;
};

static int append(struct branch **branches, size_t *count, size_t *room, struct branch branch)
{
	struct branch *more;

	if (*count >= BRANCH_LIMIT)
		return -E2BIG;
	if (*count == *room) {
		size_t wanted = *room ? 2 * *room : 4096;

		more = reallocarray(*branches, wanted, sizeof(*more));
		if (!more)
			return -ENOMEM;
		*branches = more;
		*room = wanted;
	}
	(*branches)[(*count)++] = branch;
	return 0;
}

static void add_branch(struct reading *reading, enum machine_event_kind kind, uint64_t target)
{
	const struct call_graph *graph = reading->graph;
	struct branch branch = {.from = reading->function};
	bool is_start;
	size_t to;

	if (reading->error || target < reading->low || target >= reading->high)
		return;
	to = eh_frame__find(graph->functions, graph->count, target);
	if (to == SIZE_MAX || to == branch.from)
		return;
	branch.to = (uint32_t)to;
	is_start = graph->functions[to].start == target;
	if (kind == MACHINE_CALL && !is_start)
		return; /* compilers never emit this */
	if (kind == MACHINE_JUMP && is_start)
		graph->is_tail_called[to] = true;
	if (kind == MACHINE_CALL) {
		reading->reached[to].by_call = true;
	} else if (reading->reached[to].by_jump != branch.from) {
		uint32_t *by_jump = &reading->reached[to].by_jump;

		*by_jump = *by_jump == NOBODY ? branch.from : MANY;
	}
	reading->error = is_start ? append(&reading->branches, &reading->branch_count,
					   &reading->branch_room, branch)
				  : append(&reading->returns, &reading->return_count,
					   &reading->return_room, branch);
}

static void visit(void *context, const struct machine_event *event)
{
	struct reading *reading = context;

	if (event->kind == MACHINE_CALL || event->kind == MACHINE_JUMP)
		add_branch(reading, event->kind, event->target);
	else
		reading->observer->observe(reading->observer->context, reading->function, event);
}

/* Reads the code of one segment, function by function. */
static void read_code(struct reading *reading, uint16_t machine, const uint8_t *code,
		      uint64_t address, uint64_t size)
{
	const struct call_graph *graph = reading->graph;

	for (size_t i = 0; i < graph->count && !reading->error; i++) {
		const struct function_range *function = &graph->functions[i];

		if (function->start < address || function->end - address > size)
			continue;
		reading->function = (uint32_t)i;
		machine_code__visit(machine, code + (function->start - address),
				    function->end - function->start, function->start, visit,
				    reading);
	}
}

static int read_segments(struct reading *reading, const struct elf_file *file)
{
	struct elf_segment segment;
	uint64_t left = CODE_LIMIT;

	for (size_t i = 0; elf_file__segment(file, i, &segment); i++) {
		uint64_t size = elf_file__bytes_at(file, segment.address);
		uint8_t *code;
		ssize_t length;

		if (segment.type != PT_LOAD || !(segment.flags & PF_X) || !size)
			continue;
		if (size > left)
			return -E2BIG;
		left -= size;
		code = malloc(size);
		if (!code)
			return -ENOMEM;
		length = elf_file__read(file, segment.address, code, size);
		if (length > 0)
			read_code(reading, elf_file__machine(file), code, segment.address,
				  (uint64_t)length);
		free(code);
	}
	return reading->error;
}

/*
 * A part is never called, only one function jumps to it, and it jumps back into the middle of that
 * function. (A part that never returns, because it ends in an error, remains a function that nobody
 * needs.)
 */
static void find_owners(struct reading *reading)
{
	struct call_graph *graph = reading->graph;

	for (size_t i = 0; i < reading->return_count; i++) {
		const struct branch *back = &reading->returns[i];

		if (reading->reached[back->from].by_jump == back->to)
			reading->reached[back->from].is_left_for = true;
	}
	for (uint32_t i = 0; i < graph->count; i++) {
		const struct reached *reached = &reading->reached[i];
		bool is_part = !reached->by_call && reached->is_left_for;

		graph->owners[i] = is_part ? reached->by_jump : i;
	}
	/* Two functions that only jump to each other are not parts. */
	for (uint32_t i = 0; i < graph->count; i++)
		if (graph->owners[graph->owners[i]] != graph->owners[i])
			graph->owners[i] = i;
}

static int compare_branches(const void *left, const void *right)
{
	const struct branch *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Sorts the branches and keeps, for each `from`, every `to` once. */
static int link_functions(struct call_graph_links *links, struct branch *branches, size_t count,
			  size_t function_count)
{
	size_t kept = 0;
	uint32_t function = 0;

	links->first = calloc(function_count + 1, sizeof(*links->first));
	links->others = calloc(count + 1, sizeof(*links->others));
	if (!links->first || !links->others)
		return -ENOMEM;
	if (count)
		qsort(branches, count, sizeof(*branches), compare_branches);
	for (size_t i = 0; i < count; i++) {
		if (branches[i].from == branches[i].to ||
		    (i && !compare_branches(&branches[i - 1], &branches[i])))
			continue;
		while (function < branches[i].from)
			links->first[++function] = (uint32_t)kept;
		links->others[kept++] = branches[i].to;
	}
	while (function < function_count)
		links->first[++function] = (uint32_t)kept;
	return 0;
}

static int link_all(struct reading *reading)
{
	struct call_graph *graph = reading->graph;
	struct branch *branches = reading->branches;
	int error;

	for (size_t i = 0; i < reading->branch_count; i++) {
		branches[i].from = graph->owners[branches[i].from];
		branches[i].to = graph->owners[branches[i].to];
	}
	error = link_functions(&graph->callees, branches, reading->branch_count, graph->count);
	for (size_t i = 0; i < reading->branch_count; i++)
		branches[i] = (struct branch){.from = branches[i].to, .to = branches[i].from};
	if (!error)
		error = link_functions(&graph->callers, branches, reading->branch_count,
				       graph->count);
	return error;
}

int call_graph__read(const struct elf_file *file, const struct call_graph_observer *observer,
		     struct call_graph *graph)
{
	struct reading reading = {.graph = graph, .observer = observer};
	int error;

	memset(graph, 0, sizeof(*graph));
	error = eh_frame__read(file, &graph->functions, &graph->count);
	if (error)
		return error;
	if (graph->count >= MANY)
		return -E2BIG;
	reading.low = graph->functions[0].start;
	reading.high = graph->functions[graph->count - 1].end;
	reading.reached = calloc(graph->count, sizeof(*reading.reached));
	graph->owners = calloc(graph->count, sizeof(*graph->owners));
	graph->is_tail_called = calloc(graph->count, sizeof(*graph->is_tail_called));
	error = reading.reached && graph->owners && graph->is_tail_called ? 0 : -ENOMEM;
	for (size_t i = 0; !error && i < graph->count; i++)
		reading.reached[i].by_jump = NOBODY;
	if (!error)
		error = read_segments(&reading, file);
	if (!error) {
		find_owners(&reading);
		error = link_all(&reading);
	}
	free(reading.reached);
	free(reading.branches);
	free(reading.returns);
	return error;
}

void call_graph__free(struct call_graph *graph)
{
	free(graph->functions);
	free(graph->owners);
	free(graph->is_tail_called);
	free(graph->callees.first);
	free(graph->callees.others);
	free(graph->callers.first);
	free(graph->callers.others);
	memset(graph, 0, sizeof(*graph));
}

static struct call_graph_set set_of(const struct call_graph_links *links, uint32_t function)
{
	return (struct call_graph_set){
		.items = links->others + links->first[function],
		.count = links->first[function + 1] - links->first[function],
	};
}

struct call_graph_set call_graph__callees(const struct call_graph *graph, uint32_t function)
{
	return set_of(&graph->callees, function);
}

struct call_graph_set call_graph__callers(const struct call_graph *graph, uint32_t function)
{
	return set_of(&graph->callers, function);
}
