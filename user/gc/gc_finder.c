/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interpreters of the Lua family keep the phase of the GC cycle in global_State's byte `gcstate`.
 * Only their lgc.c writes several different constants there from functions that call each other; no
 * other functions of a program that call each other write bytes at that offset. Those of lgc.c are
 * the collector's inside. Code that allocates enters the inside through one function, luaC_step,
 * which the executor (luaV_execute) calls as well. The executor is the function that extracts
 * operands from instructions dozens of times, at the bit positions where the release has them. Both
 * functions must be found, each exactly once, and the executor must call luaC_step. Only where a VM
 * has variants of its executor may there be more of it (struct gc_signs).
 */
#include "gc/gc_finder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/call_graph.h"
#include "gc/gc_facts.h"

#define OPERANDS_NEEDED 6  /* shifts, of B and of C: luaV_execute has 9 or more, others up to 4 */
#define CALLERS_NEEDED  5  /* luaC_step has 14 or more */
#define CALLERS_MAX     12 /* luaC_fullgc has 8; a function with more is hardly GC code alone */
#define SERVED_ROUNDS   3  /* levels of calls; freeobj() is one of them unless inlined */

/* Limit of GC code in the map; functions that are left out are called by those that are in. */
#define INSIDE_MAX (GC_CODE_MAX / 4)

enum mark {
	MARK_INSIDE = 1, /* writes gcstate and is connected by calls with others that do */
	MARK_ENTRY = 2,  /* inside, or enters it: see mark_entries() */
	MARK_SERVED = 4, /* called by the inside: allocation, the string table */
	MARK_SEEN = 8,
	MARK_COLLECTOR = 16,
	MARK_OUTER = 32, /* may call luaC_step or luaV_execute */
	MARK_STEP = 64,  /* may be luaC_step */
	MARK_EXECUTOR = 128,
};

struct search {
	struct call_graph graph;
	struct gc_facts facts;
	size_t at; /* index of the signs being tried */
	uint8_t *marks;
	uint32_t *waiting; /* queue of a search along calls */
	uint32_t step;
};

static const struct gc_signs *signs_of(const struct search *search)
{
	return &search->facts.signs[search->at];
}

static int make_tables(struct search *search)
{
	search->marks = calloc(search->graph.count, sizeof(*search->marks));
	search->waiting = calloc(search->graph.count, sizeof(*search->waiting));
	return search->marks && search->waiting ? 0 : -ENOMEM;
}

static bool writes_state(const struct search *search, uint32_t function)
{
	return search->graph.owners[function] == function &&
	       search->facts.items[function].states[search->at];
}

/*
 * Marks the writers of gcstate that calls connect with `first`, and returns the values that they
 * write, a bit each.
 */
static uint16_t mark_group(struct search *search, uint32_t first, uint8_t mark)
{
	uint32_t count = 0;
	uint16_t states = 0;

	search->waiting[count++] = first;
	search->marks[first] |= mark;
	for (uint32_t at = 0; at < count; at++) {
		uint32_t function = search->waiting[at];
		struct call_graph_set sets[] = {call_graph__callees(&search->graph, function),
						call_graph__callers(&search->graph, function)};

		states |= search->facts.items[function].states[search->at];
		for (size_t i = 0; i < sets[0].count + sets[1].count; i++) {
			uint32_t next = i < sets[0].count ? sets[0].items[i]
							  : sets[1].items[i - sets[0].count];

			if (search->marks[next] & mark || !writes_state(search, next))
				continue;
			search->marks[next] |= mark;
			search->waiting[count++] = next;
		}
	}
	return states;
}

/* Marks the one group that writes enough different values. NULL, or why there is none. */
static const char *find_inside(struct search *search)
{
	uint32_t found = UINT32_MAX;

	memset(search->marks, 0, search->graph.count);
	for (uint32_t i = 0; i < search->graph.count; i++) {
		if (search->marks[i] & MARK_SEEN || !writes_state(search, i) ||
		    __builtin_popcount(mark_group(search, i, MARK_SEEN)) <
			    signs_of(search)->states_needed)
			continue;
		if (found != UINT32_MAX)
			return "several groups of functions look like it";
		found = i;
	}
	if (found == UINT32_MAX)
		return "no functions look like it";
	mark_group(search, found, MARK_INSIDE);
	return NULL;
}

static bool contains(struct call_graph_set set, uint32_t function)
{
	for (size_t i = 0; i < set.count; i++)
		if (set.items[i] == function)
			return true;
	return false;
}

static bool is_executor(const struct search *search, uint32_t function)
{
	const uint8_t *operands = search->facts.items[function].operands[search->at];

	return operands[0] >= OPERANDS_NEEDED && operands[1] >= OPERANDS_NEEDED;
}

/* Whether it calls the executor, as luaD_call does. */
static bool runs_executor(const struct search *search, uint32_t function)
{
	struct call_graph_set callees = call_graph__callees(&search->graph, function);

	for (size_t i = 0; i < callees.count; i++)
		if (is_executor(search, callees.items[i]))
			return true;
	return false;
}

/* Marks what the inside calls, SERVED_ROUNDS levels deep, except what runs finalizers. */
static void mark_served(struct search *search)
{
	uint32_t count = 0, end;

	/* A function without direct callers is called by scripts, and may call anything. */
	for (uint32_t i = 0; i < search->graph.count; i++)
		if (search->marks[i] & MARK_INSIDE && call_graph__callers(&search->graph, i).count)
			search->waiting[count++] = i;
	for (uint32_t at = 0, round = 0; round < SERVED_ROUNDS; round++) {
		for (end = count; at < end; at++) {
			uint32_t function = search->waiting[at];
			struct call_graph_set callees =
				call_graph__callees(&search->graph, function);

			for (size_t i = 0; i < callees.count; i++) {
				uint8_t *marks = &search->marks[callees.items[i]];

				if (*marks & (MARK_INSIDE | MARK_SERVED) ||
				    is_executor(search, callees.items[i]) ||
				    runs_executor(search, callees.items[i]))
					continue;
				*marks |= MARK_SERVED;
				search->waiting[count++] = callees.items[i];
			}
		}
	}
}

/* Marks what enters the inside: directly, or through a function with one caller (incstep). */
static void mark_entries(struct search *search)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < search->graph.count; i++)
		if (search->marks[i] & MARK_INSIDE)
			search->waiting[count++] = i;
	for (uint32_t at = 0; at < count; at++) {
		uint32_t function = search->waiting[at];
		struct call_graph_set callers = call_graph__callers(&search->graph, function);

		search->marks[function] |= MARK_ENTRY;
		if (!(search->marks[function] & MARK_INSIDE) && callers.count > 1)
			continue;
		for (size_t i = 0; i < callers.count; i++) {
			uint8_t *marks = &search->marks[callers.items[i]];

			if (*marks & (MARK_INSIDE | MARK_ENTRY))
				continue;
			*marks |= MARK_ENTRY;
			search->waiting[count++] = callers.items[i];
		}
	}
}

/* Whether this may be luaC_step, as seen from `executor`. Allocation may start a GC, too. */
static bool is_step(const struct search *search, uint32_t executor, uint32_t function)
{
	struct call_graph_set callees = call_graph__callees(&search->graph, function);
	struct call_graph_set seen = call_graph__callees(&search->graph, executor);

	if (!(search->marks[function] & MARK_ENTRY) || search->marks[function] & MARK_SERVED ||
	    function == executor ||
	    call_graph__callers(&search->graph, function).count < CALLERS_NEEDED)
		return false;
	/* A function that allocates calls another that may be luaC_step. */
	for (size_t i = 0; i < callees.count; i++)
		if (callees.items[i] != function && contains(seen, callees.items[i]) &&
		    search->marks[callees.items[i]] & MARK_ENTRY &&
		    !(search->marks[callees.items[i]] & MARK_SERVED) &&
		    call_graph__callers(&search->graph, callees.items[i]).count >= CALLERS_NEEDED)
			return false;
	return true;
}

static void mark_steps(struct search *search)
{
	for (uint32_t i = 0; i < search->graph.count; i++) {
		struct call_graph_set callees = call_graph__callees(&search->graph, i);

		for (size_t j = 0; is_executor(search, i) && j < callees.count; j++)
			if (is_step(search, i, callees.items[j]))
				search->marks[callees.items[j]] |= MARK_STEP;
	}
}

/* Marks the executor that enters luaC_step, in all its variants. NULL, or why there is none. */
static const char *find_executor(struct search *search)
{
	struct call_graph_set callers = call_graph__callers(&search->graph, search->step);
	size_t count = 0;

	for (size_t i = 0; i < callers.count; i++) {
		uint32_t caller = callers.items[i];

		if (!is_executor(search, caller) || !is_step(search, caller, search->step))
			continue;
		if (search->marks[caller] & MARK_INSIDE)
			return "the executor looks like it";
		search->marks[caller] |= MARK_EXECUTOR;
		count++;
	}
	return count > signs_of(search)->executors ? "several functions look like its entry" : NULL;
}

/*
 * Finds luaC_step and luaV_execute, each of which must be unique. Where allocation is inlined into
 * the executor, the function that allocates memory looks like luaC_step, but is not inside. Returns
 * NULL, or why it failed.
 */
static const char *find_step(struct search *search)
{
	size_t found[2] = {0}; /* candidates: all, and those inside */

	mark_steps(search);
	for (uint32_t i = 0; i < search->graph.count; i++) {
		bool is_inside = search->marks[i] & MARK_INSIDE;

		if (!(search->marks[i] & MARK_STEP))
			continue;
		found[0]++;
		found[1] += is_inside;
		if (is_inside || !found[1])
			search->step = i;
	}
	if (!found[0])
		return "the executor does not enter what looks like it";
	if (found[0] > 1 && found[1] != 1)
		return "several functions look like its entry";
	return find_executor(search);
}

/*
 * Whether the function belongs to the garbage collector alone. This leaves out functions that are
 * only called through a pointer, by scripts (collectgarbage, with luaC_fullgc inlined), and those
 * with too many callers (allocation, likewise).
 */
static bool is_gc(const struct search *search, uint32_t function)
{
	size_t callers = call_graph__callers(&search->graph, function).count;

	return function == search->step ||
	       (search->marks[function] & MARK_INSIDE && callers && callers <= CALLERS_MAX);
}

static bool is_helper(const struct search *search, uint32_t function)
{
	struct call_graph_set callers = call_graph__callers(&search->graph, function);

	for (size_t i = 0; i < callers.count; i++)
		if (!(search->marks[callers.items[i]] & MARK_COLLECTOR))
			return false;
	return true;
}

/* Marks the collector's functions and their helpers, which nothing else calls. Returns how many. */
static uint32_t mark_gc(struct search *search)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < search->graph.count; i++)
		if (is_gc(search, i)) {
			search->marks[i] |= MARK_COLLECTOR;
			search->waiting[count++] = i;
		}
	for (uint32_t at = 0; at < count; at++) {
		struct call_graph_set callees =
			call_graph__callees(&search->graph, search->waiting[at]);

		for (size_t i = 0; i < callees.count; i++) {
			uint32_t callee = callees.items[i];

			if (search->marks[callee] & (MARK_COLLECTOR | MARK_EXECUTOR) ||
			    !is_helper(search, callee))
				continue;
			search->marks[callee] |= MARK_COLLECTOR;
			search->waiting[count++] = callee;
		}
	}
	return count;
}

static uint16_t frame_of(const struct function_range *range)
{
	return range->frame == EH_FRAME_POINTER ? LS_FRAME_POINTER : (uint16_t)range->frame;
}

/* Adds a function and its parts, which it enters itself, as far as there is room. */
static void add_code(const struct search *search, uint32_t function, enum ls_code_kind kind,
		     struct gc_code *gc)
{
	const struct call_graph *graph = &search->graph;

	for (size_t i = 0; i < graph->count && gc->map_count < GC_CODE_MAX; i++) {
		const struct function_range *range = &graph->functions[i];

		if (graph->owners[i] == function && range->end - range->start <= UINT32_MAX)
			gc->map[gc->map_count++] = (struct ls_code){
				.address = range->start,
				.size = (uint32_t)(range->end - range->start),
				.kind = kind,
				.is_tail_called = i != function || graph->is_tail_called[i],
				.frame = frame_of(range),
			};
	}
}

static uint32_t wait_for_callers(struct search *search, uint32_t function, uint8_t but,
				 uint32_t count)
{
	struct call_graph_set callers = call_graph__callers(&search->graph, function);

	for (size_t i = 0; i < callers.count; i++) {
		uint8_t *marks = &search->marks[callers.items[i]];

		if (*marks & (but | MARK_COLLECTOR | MARK_OUTER))
			continue;
		*marks |= MARK_OUTER;
		search->waiting[count++] = callers.items[i];
	}
	return count;
}

/*
 * Adds what can call the executor or start a collection, the nearest first: on a stack, all of it
 * is further from the leaf than a running collector. From the second level of callers on, functions
 * that serve the collector are left out: they can do so, too, when they fail.
 */
static void add_outer(struct search *search, struct gc_code *gc)
{
	uint32_t count = 0, executors;

	for (uint32_t i = 0; i < search->graph.count; i++)
		if (search->marks[i] & MARK_EXECUTOR) {
			search->marks[i] |= MARK_OUTER;
			search->waiting[count++] = i;
		}
	executors = count;
	for (uint32_t i = 0; i < executors; i++)
		count = wait_for_callers(search, search->waiting[i], 0, count);
	count = wait_for_callers(search, search->step, 0, count);
	for (uint32_t at = 0; at < count && gc->map_count < GC_CODE_MAX; at++) {
		add_code(search, search->waiting[at], LS_CODE_OUTER, gc);
		count = wait_for_callers(search, search->waiting[at], MARK_SERVED, count);
	}
}

static int compare_code(const void *left, const void *right)
{
	const struct ls_code *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void write_map(struct search *search, struct gc_code *gc)
{
	uint32_t functions = mark_gc(search);

	add_code(search, search->step, LS_CODE_COLLECTOR, gc);
	for (uint32_t i = 0; i < search->graph.count; i++)
		if (search->marks[i] & MARK_COLLECTOR && i != search->step &&
		    gc->map_count < INSIDE_MAX)
			add_code(search, i, LS_CODE_COLLECTOR, gc);
	add_outer(search, gc);
	qsort(gc->map, gc->map_count, sizeof(gc->map[0]), compare_code);
	gc->is_known = true;
	snprintf(gc->how, sizeof(gc->how),
		 "%u functions around those that write gcstate at offset %u, entered by the "
		 "executor",
		 functions, signs_of(search)->state_offset);
}

/* Tries all signs. */
static void decide(struct search *search, struct gc_code *gc)
{
	const char *why = "no layout is a candidate";
	struct gc_code found = {0};

	for (search->at = 0; search->at < search->facts.signs_count; search->at++) {
		const char *why_not = find_inside(search);

		if (!why_not) {
			mark_entries(search);
			mark_served(search);
			why_not = find_step(search);
		}
		if (why_not) {
			why = why_not;
		} else if (found.is_known) {
			snprintf(gc->how, sizeof(gc->how), "several layouts have one");
			return;
		} else {
			write_map(search, &found);
		}
	}
	if (found.is_known)
		*gc = found;
	else
		snprintf(gc->how, sizeof(gc->how), "%s", why);
}

int gc_finder__find(const struct elf_file *file, const struct gc_signs *signs, size_t count,
		    struct gc_code *gc)
{
	struct search search = {.facts = {.signs = signs, .signs_count = count}};
	const struct call_graph_observer observer = {&search.facts, gc_facts__observe};
	int error;

	memset(gc, 0, sizeof(*gc));
	error = call_graph__read(file, &observer, &search.graph);
	if (!error)
		error = gc_facts__finish(&search.facts, &search.graph);
	if (!error)
		error = make_tables(&search);
	if (!error)
		decide(&search, gc);
	else if (error != -ENOMEM)
		snprintf(gc->how, sizeof(gc->how), "%s",
			 error == -E2BIG ? "the file has too much code"
					 : "the file has no unwind tables");
	call_graph__free(&search.graph);
	gc_facts__free(&search.facts);
	free(search.marks);
	free(search.waiting);
	return error == -ENOMEM ? error : 0;
}
