/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Suspended coroutines belong to no thread, and any thread may resume one while it is read. A stack
 * is only taken if the memory it was read from is unchanged afterwards; else it is read again, up
 * to READINGS_MAX times in all.
 */
#include "dump/dump_coroutines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "dump/dump_internal.h"
#include "dump/vm_search.h"
#include "memory/target_memory.h"
#include "process/process.h"

#define READINGS_MAX 6
#define VMS_MAX      64
#define FRAMES_MAX   500000 /* of all coroutines together: 64 MiB */

/* Limit of CPU time for all coroutines: ten times what 100,000 take. */
#define TIME_MAX_NS 10000000000ULL

struct vm {
	uint64_t main_thread;
	struct layout layout;
	bool is_proven; /* a stack has proven the layout */
};

struct reading {
	struct dump *dump;
	struct target_memory memory;
	struct vm vms[VMS_MAX];
	size_t vm_count, room;
	uint64_t frames;
	uint64_t end_ns;
};

static void note_vm(struct reading *reading, uint64_t main_thread, const struct layout *layout,
		    bool is_proven)
{
	for (size_t i = 0; i < reading->vm_count; i++)
		if (reading->vms[i].main_thread == main_thread)
			return;
	if (reading->vm_count == VMS_MAX || !layout->family)
		reading->dump->counts.left_out++;
	else
		reading->vms[reading->vm_count++] = (struct vm){
			.main_thread = main_thread, .layout = *layout, .is_proven = is_proven};
}

/*
 * Finds the VMs that threads run, and those only found in memory, as in a server between requests.
 */
static int find_vms(struct reading *reading)
{
	const struct dump *dump = reading->dump;
	struct vm_search search;
	struct ls_image target;
	int error;

	for (size_t i = 0; i < dump->thread_count; i++)
		if (dump->threads[i].stack.count && dump->threads[i].stack.vm)
			note_vm(reading, dump->threads[i].stack.vm, &dump->threads[i].stack.layout,
				true);
	dump_internal__target(dump->internal, &target);
	error = vm_search__find(dump->options.pid, target.candidates, &search);
	if (error && error != -ENOMEM) {
		log_warn("cannot search the memory of %s for VMs: %s", dump->target,
			 strerror(-error));
		error = 0;
	}
	for (size_t i = 0; i < search.count; i++) {
		const struct layout *layout = &search.items[i].layout;

		if (layout->family)
			layout_votes__propose(&dump->internal->votes, layout->family, layout->slot);
		note_vm(reading, search.items[i].main_thread, layout,
			layout->family &&
				target.candidates[layout->family->id].decided >> layout->slot & 1);
	}
	reading->dump->counts.left_out += search.is_cut_short;
	reading->dump->counts.vms = reading->vm_count;
	return error;
}

/* If the layout is not proven and this stack does not prove it, *stack stays empty. */
static int take(struct reading *reading, const struct vm *vm, const struct walked_stack *walked,
		struct dump_stack *stack)
{
	struct dump_internal *internal = reading->dump->internal;

	if (!vm->is_proven)
		layout_votes__add(&internal->votes, walked->sample);
	*stack = (struct dump_stack){};
	if (!vm->is_proven && !walked->sample->verified)
		return 0;
	return stack_reader__read(internal->reader, walked->sample, walked->frames, stack);
}

/* Whether the leaf is a Lua function outside of a hook: only C functions and hooks yield. */
static bool runs_lua(const struct walked_stack *walked)
{
	return walked->sample->class > LS_SAMPLE_TORN && walked->frames[0].kind == LS_FRAME_LUA &&
	       !(walked->frames[0].flags & LS_FRAME_HOOKED);
}

/*
 * 0: *stack is the coroutine's; -EAGAIN: it ran; -ENOMEM. While it is being resumed, a stack is
 * inconsistent (torn) for a moment: a torn one is taken only if every reading is torn.
 */
static int read_coroutine(struct reading *reading, const struct vm *vm, uint64_t state,
			  struct dump_stack *stack)
{
	const struct walker_ops *ops = vm->layout.family->walker;
	struct walker *walker = reading->dump->internal->walkers[vm->layout.family->id];
	int torn = 0;

	for (int i = 0; i < READINGS_MAX; i++) {
		struct walked_stack walked = ops->walk_suspended(walker, state, vm->main_thread,
								 vm->layout.slot, !vm->is_proven);

		if (walked.is_resumed)
			return -EAGAIN;
		if (!ops->is_unchanged(walker) || runs_lua(&walked))
			continue;
		torn += walked.sample->class <= LS_SAMPLE_TORN;
		if (walked.sample->class > LS_SAMPLE_TORN || torn == READINGS_MAX)
			return take(reading, vm, &walked, stack);
	}
	return -EAGAIN;
}

static struct dump_coroutine *make_room(struct reading *reading)
{
	struct dump *dump = reading->dump;

	if (dump->coroutine_count == reading->room) {
		size_t room = reading->room ? 2 * reading->room : 64;
		void *more = reallocarray(dump->coroutines, room, sizeof(*dump->coroutines));

		if (!more)
			return NULL;
		dump->coroutines = more;
		reading->room = room;
	}
	return &dump->coroutines[dump->coroutine_count];
}

static int add_suspended(struct reading *reading, const struct vm *vm, uint64_t state)
{
	struct dump_counts *counts = &reading->dump->counts;
	struct dump_coroutine *coroutine;
	int error;

	if (reading->frames >= FRAMES_MAX || clock_ns(CLOCK_THREAD_CPUTIME_ID) > reading->end_ns) {
		counts->left_out++;
		return 0;
	}
	coroutine = make_room(reading);
	if (!coroutine)
		return -ENOMEM;
	error = read_coroutine(reading, vm, state, &coroutine->stack);
	if (error == -EAGAIN) {
		counts->changing++;
		return 0;
	}
	if (error)
		return error;
	if (!coroutine->stack.count) {
		counts->unreadable++;
		return 0;
	}
	reading->frames += coroutine->stack.count;
	reading->dump->coroutine_count++;
	return 0;
}

static int sort_out(struct reading *reading, const struct vm *vm, const struct coroutine *coroutine)
{
	struct dump_counts *counts = &reading->dump->counts;

	switch (coroutine->status) {
	case COROUTINE_ACTIVE:
		counts->active++;
		return 0;
	case COROUTINE_NOT_STARTED:
		counts->not_started++;
		return 0;
	case COROUTINE_FINISHED:
		counts->finished++;
		return 0;
	case COROUTINE_FAILED:
		counts->failed++;
		return 0;
	case COROUTINE_SUSPENDED:
		break;
	}
	return add_suspended(reading, vm, coroutine->state);
}

static int read_vm(struct reading *reading, const struct vm *vm)
{
	struct dump_counts *counts = &reading->dump->counts;
	const struct layout *layout = &vm->layout;
	struct coroutines coroutines;
	int error;

	if (!layout->family->walker)
		return 0;
	error = layout->family->walker->read_coroutines(&reading->memory, layout->offsets,
							vm->main_thread, &coroutines);
	counts->objects += coroutines.objects;
	if ((error && error != -ENOMEM) || coroutines.is_cut_short) {
		counts->left_out++;
		error = 0;
	}
	for (size_t i = 0; i < coroutines.count && !error; i++)
		error = sort_out(reading, vm, &coroutines.items[i]);
	free(coroutines.items);
	return error;
}

int dump_coroutines__read(struct dump *dump)
{
	struct reading reading = {.dump = dump, .memory = {.pid = dump->options.pid}};
	uint64_t before = 0, after = 0;
	int error;

	process__runtime_ns(dump->options.pid, &before);
	reading.end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + TIME_MAX_NS;
	error = find_vms(&reading);
	for (size_t i = 0; i < reading.vm_count && !error; i++)
		error = read_vm(&reading, &reading.vms[i]);
	process__runtime_ns(dump->options.pid, &after);
	dump->counts.ran = reading.vm_count && before != after;
	return error;
}
