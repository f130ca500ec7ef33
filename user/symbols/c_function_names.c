/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbols/c_function_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LIMIT 65536 /* names in total */

struct c_function_names *c_function_names__new(void)
{
	return calloc(1, sizeof(struct c_function_names));
}

void c_function_names__free(struct c_function_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].text);
	free(names->items);
	free(names);
}

static void *grow(void *items, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 64;

	if (count < *room)
		return items;
	items = reallocarray(items, more, size);
	if (items)
		*room = more;
	return items;
}

int c_function_names__add(struct c_function_names *names, const struct function_name *name)
{
	struct function_name *item;

	if (names->count >= NAME_LIMIT)
		return -E2BIG;
	item = grow(names->items, names->count, &names->room, sizeof(*item));
	if (!item)
		return -ENOMEM;
	names->items = item;
	item = &names->items[names->count];
	*item = *name;
	item->text = strdup(name->text);
	if (!item->text)
		return -ENOMEM;
	names->count++;
	return 0;
}

static int compare_names(const void *left, const void *right)
{
	const struct function_name *a = left, *b = right;
	size_t length_a, length_b;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	length_a = strlen(a->text);
	length_b = strlen(b->text);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* "format" of "string.format" */
static const char *last_part(const char *text)
{
	const char *last = text;

	for (const char *at = text; *at; at++)
		if (*at == '.' || *at == ':')
			last = at + 1;
	return last;
}

/*
 * A C function that several closures with upvalues share under different names is a binding
 * library's trampoline: one of these names would mislead.
 */
static bool is_ambiguous(const struct function_name *best, const struct function_name *other)
{
	return best->instance && other->instance && best->instance != other->instance &&
	       strcmp(last_part(best->text), last_part(other->text)) != 0;
}

/* A C function in the metatables of several types belongs to none: "__index", not "Dir.__index". */
static bool is_shared(const struct function_name *best, const struct function_name *other)
{
	return best->rank == RANK_METATABLE && other->rank == RANK_METATABLE &&
	       strcmp(best->text, other->text) != 0 &&
	       strcmp(last_part(best->text), last_part(other->text)) == 0;
}

void c_function_names__merge(struct c_function_names *names)
{
	struct function_name *items = names->items;
	size_t kept = 0, end;

	if (names->count)
		qsort(items, names->count, sizeof(*items), compare_names);
	for (size_t i = 0; i < names->count; i = end) {
		struct function_name best = items[i];
		bool ambiguous = false, shared = false;

		for (end = i + 1; end < names->count && items[end].function == best.function;
		     end++) {
			if (best.rank != RANK_KNOWN && is_ambiguous(&best, &items[end]))
				ambiguous = true;
			shared |= is_shared(&best, &items[end]);
			free(items[end].text);
		}
		if (shared) {
			const char *last = last_part(best.text);

			memmove(best.text, last, strlen(last) + 1);
			best.is_given = false;
		}
		if (ambiguous) {
			free(best.text);
			best.text = NULL;
		}
		best.rank = RANK_KNOWN;
		items[kept++] = best;
	}
	names->count = kept;
}

void c_function_names__put(const struct c_function_names *names, struct message *message)
{
	message__put_number(message, names->count);
	for (size_t i = 0; i < names->count; i++) {
		message__put_number(message, names->items[i].function);
		message__put_number(message, names->items[i].is_given);
		message__put_text(message, names->items[i].text);
	}
}

/* Appends the next name. Its rank sorts it behind a name that the function already has. */
static int take_name(struct c_function_names *names, struct message *message)
{
	struct function_name *items =
		grow(names->items, names->count, &names->room, sizeof(*items));
	struct function_name *item;

	if (!items)
		return -ENOMEM;
	names->items = items;
	item = &items[names->count];
	*item = (struct function_name){.rank = RANK_LOADED};
	item->function = message__take_number(message, UINT64_MAX);
	item->is_given = message__take_number(message, 1);
	item->text = message__take_text(message, C_FUNCTION_NAME_SIZE - 1);
	names->count += !message->error;
	return message->error;
}

static int compare_ranks(const void *left, const void *right)
{
	const struct function_name *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Keeps one name per function: the one that was there before. */
static void drop_duplicates(struct c_function_names *names)
{
	struct function_name *items = names->items;
	size_t kept = 0;

	if (names->count)
		qsort(items, names->count, sizeof(*items), compare_ranks);
	for (size_t i = 0; i < names->count; i++) {
		if (kept && items[kept - 1].function == items[i].function) {
			free(items[i].text);
			continue;
		}
		items[kept] = items[i];
		items[kept++].rank = RANK_KNOWN;
	}
	names->count = kept;
}

int c_function_names__take(struct c_function_names *names, struct message *message)
{
	uint64_t count = message__take_number(message, NAME_LIMIT);
	int error = 0;

	while (count-- && !error && names->count < 2 * NAME_LIMIT)
		error = take_name(names, message);
	drop_duplicates(names);
	return error ? error : message__end(message);
}

static int compare_to_address(const void *key, const void *item)
{
	uint64_t address = *(const uint64_t *)key;
	const struct function_name *name = item;

	return (address > name->function) - (address < name->function);
}

static const struct function_name *find_name(const struct c_function_names *names,
					     uint64_t function)
{
	return names->count ? bsearch(&function, names->items, names->count, sizeof(*names->items),
				      compare_to_address)
			    : NULL;
}

const char *c_function_names__get(const struct c_function_names *names, uint64_t function)
{
	const struct function_name *found = find_name(names, function);

	return found ? found->text : NULL;
}

bool c_function_names__is_ambiguous(const struct c_function_names *names, uint64_t function)
{
	const struct function_name *found = find_name(names, function);

	return found && !found->text;
}

bool c_function_names__is_given(const struct c_function_names *names, uint64_t function)
{
	const struct function_name *found = find_name(names, function);

	return found && found->text && found->is_given;
}

int c_function_names__give(struct c_function_names *names, uint64_t function, const char *text)
{
	/* c_function_names__add() copies it. */
	const struct function_name name = {
		.function = function, .is_given = true, .text = (char *)(uintptr_t)text};
	int error = !text || find_name(names, function) ? 0 : c_function_names__add(names, &name);

	c_function_names__merge(names);
	return error;
}
