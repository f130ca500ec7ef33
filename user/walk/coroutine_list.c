/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walk/coroutine_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_table.h"

/* Limits of one reading. A second suffices for 10^6 objects or more. */
#define OBJECTS_MAX    1000000
#define COROUTINES_MAX 100000
#define TIME_MAX_NS    2000000000ULL
#define CLOCK_EVERY    1024
#define TRAIL          256 /* objects remembered, to go back to when the list breaks off */

struct visited {
	uint64_t state;
	UT_hash_handle hh;
};

struct reading {
	const struct target_memory *memory;
	const struct coroutine_list *list;
	uint64_t vm, global;
	uint64_t end_ns;
	struct visited *visited; /* a list that changes meanwhile may lead to one twice */
	struct coroutines *coroutines;
	size_t room;
};

static uint64_t reference_at(const struct coroutine_list *list, const uint8_t *bytes, size_t offset)
{
	uint64_t reference = 0;

	memcpy(&reference, bytes + offset, list->reference_size);
	return reference;
}

/* Notes that a state was visited. 0: for the first time; 1: not; -ENOMEM. */
static int visit_once(struct reading *reading, uint64_t state)
{
	struct visited *visited;

	HASH_FIND(hh, reading->visited, &state, sizeof(state), visited);
	if (visited)
		return 1;
	visited = malloc(sizeof(*visited));
	if (!visited)
		return -ENOMEM;
	visited->state = state;
	HASH_ADD(hh, reading->visited, state, sizeof(visited->state), visited);
	if (HASH_HAS_ADDED(visited))
		return 0;
	free(visited);
	return -ENOMEM;
}

int coroutine_list__add(struct coroutines *coroutines, size_t *room, uint64_t state,
			enum coroutine_status status)
{
	if (coroutines->count == COROUTINES_MAX) {
		coroutines->is_cut_short = true;
		return 1;
	}
	if (coroutines->count == *room) {
		size_t more = *room ? 2 * *room : 64;
		void *items = reallocarray(coroutines->items, more, sizeof(*coroutines->items));

		if (!items)
			return -ENOMEM;
		coroutines->items = items;
		*room = more;
	}
	coroutines->items[coroutines->count++] =
		(struct coroutine){.state = state, .status = status};
	return 0;
}

static int add(struct reading *reading, uint64_t state, const uint8_t *copy)
{
	const struct coroutine_list *list = reading->list;
	int visited, error;

	if (state == reading->vm || reference_at(list, copy, list->state_global) != reading->global)
		return 0;
	visited = visit_once(reading, state);
	if (visited)
		return visited < 0 ? visited : 0;
	error = coroutine_list__add(reading->coroutines, &reading->room, state,
				    list->status(list->offsets, state, copy));
	return error < 0 ? error : 0;
}

/* Reads one object; *next follows it. 0, -EAGAIN: it is not an object (any more), or -ENOMEM. */
static int look_at(struct reading *reading, uint64_t object, uint64_t *next)
{
	const struct coroutine_list *list = reading->list;
	uint8_t copy[COROUTINE_STATE_MAX] = {};
	ssize_t size = -EFAULT;
	uint8_t type;

	if (!(object & 7))
		size = target_memory__read_some(reading->memory, object, copy, list->state_size);
	type = copy[list->type_at] & list->type_mask;
	if (size <= list->type_at || type < list->type_first || type > list->type_last)
		return -EAGAIN;
	*next = reference_at(list, copy, 0);
	if (copy[list->type_at] != list->coroutine || size != list->state_size)
		return 0;
	return add(reading, object, copy);
}

static bool is_enough(struct reading *reading)
{
	uint64_t count = ++reading->coroutines->objects;

	return count >= OBJECTS_MAX ||
	       (count % CLOCK_EVERY == 0 && clock_ns(CLOCK_THREAD_CPUTIME_ID) > reading->end_ns);
}

/*
 * The garbage collector unlinks objects while this follows the list. When an object is gone, those
 * before it, if they still exist, already lead around it: the further back, the more likely.
 *
 * 0: reached the end; -EAGAIN: cannot go on; -E2BIG: a limit was reached; -ENOMEM.
 */
static int follow_list(struct reading *reading, uint64_t object)
{
	uint64_t trail[TRAIL] = {}, length = 0, back = 1;

	while (object) {
		uint64_t next = 0;
		int error = is_enough(reading) ? -E2BIG : look_at(reading, object, &next);

		if (error == -EAGAIN) {
			if (back > TRAIL || back > length)
				return -EAGAIN;
			length -= back;
			object = trail[length % TRAIL];
			back *= 2;
			continue;
		}
		if (error)
			return error;
		trail[length++ % TRAIL] = object;
		object = next;
		/* Well past the point where the list broke off. */
		if (length % (4ULL * TRAIL) == 0)
			back = 1;
	}
	return 0;
}

static int read_list(struct reading *reading)
{
	uint64_t first = 0;
	int error = -EAGAIN;

	while (error == -EAGAIN && !is_enough(reading)) {
		error = target_memory__read(reading->memory,
					    reading->global + reading->list->global_objects, &first,
					    reading->list->reference_size);
		if (!error)
			error = follow_list(reading, first);
	}
	if (error == -EAGAIN || error == -E2BIG) {
		reading->coroutines->is_cut_short = true;
		return 0;
	}
	return error;
}

void coroutine_list__turn_around(struct coroutines *coroutines)
{
	for (size_t i = 0, j = coroutines->count; i + 1 < j; i++) {
		struct coroutine item = coroutines->items[i];

		coroutines->items[i] = coroutines->items[--j];
		coroutines->items[j] = item;
	}
}

int coroutine_list__read(const struct coroutine_list *list, const struct target_memory *memory,
			 uint64_t vm, struct coroutines *coroutines)
{
	struct reading reading = {.memory = memory,
				  .list = list,
				  .vm = vm,
				  .end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + TIME_MAX_NS,
				  .coroutines = coroutines};
	struct visited *visited, *next;
	uint8_t copy[COROUTINE_STATE_MAX];
	int error;

	*coroutines = (struct coroutines){};
	error = target_memory__read(memory, vm, copy, list->state_size);
	if (error)
		return error;
	if (copy[list->type_at] != list->coroutine)
		return -EINVAL;
	reading.global = reference_at(list, copy, list->state_global);
	error = read_list(&reading);
	coroutine_list__turn_around(coroutines);
	HASH_ITER (hh, reading.visited, visited, next) {
		HASH_DEL(reading.visited, visited);
		free(visited);
	}
	return error;
}
