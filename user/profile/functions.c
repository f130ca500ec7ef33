/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/functions_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct functions *functions__new(void)
{
	return calloc(1, sizeof(struct functions));
}

static void free_naming(struct naming *naming)
{
	name_votes__free(&naming->votes);
	free(naming->given);
	free(naming->called);
	line_table__free(naming->lines);
}

void functions__free(struct functions *functions)
{
	struct entry *entry, *next;

	if (!functions)
		return;
	HASH_ITER (hh, functions->entries, entry, next) {
		HASH_DEL(functions->entries, entry);
		free(entry);
	}
	for (uint32_t id = 1; id <= functions->count; id++)
		free_naming(&functions->namings[id]);
	free(functions->namings);
	free(functions->shown);
	free(functions);
}

static int make_room(struct functions *functions)
{
	uint32_t room = functions->room ? functions->room * 2 : 64;
	struct ls_profile_function *shown;
	struct naming *namings;

	if (functions->first_free || functions->count + 1 < functions->room)
		return 0;
	shown = reallocarray(functions->shown, room, sizeof(*shown));
	if (!shown)
		return -ENOMEM;
	functions->shown = shown;
	namings = reallocarray(functions->namings, room, sizeof(*namings));
	if (!namings)
		return -ENOMEM;
	functions->namings = namings;
	functions->room = room;
	return 0;
}

static uint32_t take_id(struct functions *functions)
{
	uint32_t id = functions->first_free;

	if (!id)
		return ++functions->count;
	functions->first_free = functions->namings[id].next_free;
	functions->free_count--;
	return id;
}

/*
 * Finds or adds the entry of that key. A new one has an id, but the caller must fill in what is
 * shown of the function. NULL when out of memory.
 */
static struct entry *find_or_add(struct functions *functions, const struct key_head *head,
				 const char *text, bool *is_new)
{
	size_t text_size = strlen(text) + 1;
	size_t key_size = sizeof(*head) + text_size;
	struct entry *entry = calloc(1, sizeof(*entry) + text_size);
	struct entry *there;

	if (!entry)
		return NULL;
	entry->key = *head;
	memcpy((char *)&entry->key + sizeof(*head), text, text_size);
	entry->key_size = key_size;
	HASH_FIND(hh, functions->entries, &entry->key, key_size, there);
	*is_new = !there;
	if (there || make_room(functions)) {
		free(entry);
		return there;
	}
	HASH_ADD_KEYPTR(hh, functions->entries, &entry->key, key_size, entry);
	if (!HASH_HAS_ADDED(entry)) {
		free(entry);
		return NULL;
	}
	entry->id = take_id(functions);
	functions->shown[entry->id] = (struct ls_profile_function){0};
	functions->namings[entry->id] = (struct naming){.entry = entry};
	return entry;
}

uint32_t functions__script(struct functions *functions, const struct function_identity *identity)
{
	struct key_head head = {.kind = KIND_SCRIPT,
				.number = identity->shape,
				.line = identity->line,
				.last_line = identity->last_line};
	struct entry *entry;
	bool is_new;

	entry = find_or_add(functions, &head, identity->source, &is_new);
	if (!entry)
		return 0;
	if (is_new) {
		functions->shown[entry->id].source = text_of(entry);
		functions->shown[entry->id].line = identity->line;
	}
	return entry->id;
}

uint32_t functions__native(struct functions *functions, uint32_t function)
{
	struct key_head head = functions->namings[function].entry->key;
	const char *given;
	struct entry *entry;
	bool is_new;

	head.kind = KIND_NATIVE;
	entry = find_or_add(functions, &head, functions->shown[function].source, &is_new);
	if (!entry)
		return 0;
	if (!is_new)
		return entry->id;
	functions->shown[entry->id] = (struct ls_profile_function){
		.source = text_of(entry), .line = head.line, .flags = LS_FUNCTION_NATIVE};
	functions->namings[entry->id].is_defined = functions->namings[function].is_defined;
	functions->namings[entry->id].is_inferred = functions->namings[function].is_inferred;
	given = functions->namings[function].given;
	return given && functions__rename(functions, entry->id, given) ? 0 : entry->id;
}

uint32_t functions__c(struct functions *functions, const struct c_function_identity *identity)
{
	struct key_head head = {.kind = KIND_C,
				.number = identity->place,
				.file = identity->program ? 0 : identity->file,
				.program = identity->program};
	struct entry *entry;
	bool is_new;

	entry = find_or_add(functions, &head, identity->name, &is_new);
	if (!entry)
		return 0;
	functions->shown[entry->id].source = "[C]";
	if (is_new)
		functions->namings[entry->id].is_symbol = identity->is_symbol;
	return entry->id;
}

uint32_t functions__pseudo(struct functions *functions, const char *name)
{
	struct key_head head = {.kind = KIND_PSEUDO};
	struct entry *entry;
	bool is_new;

	entry = find_or_add(functions, &head, name, &is_new);
	if (!entry)
		return 0;
	functions->shown[entry->id].name = text_of(entry);
	return entry->id;
}

uint32_t functions__activity(struct functions *functions, enum ls_activity activity)
{
	/* GC as in the profiler whose format this is, as readers expect. */
	static const char *const names[LS_ACTIVITY_COUNT] = {
		[LS_ACTIVITY_GC] = "GC",
		[LS_ACTIVITY_COMPILER] = PROFILE_COMPILER,
		[LS_ACTIVITY_TRACE_EXIT] = PROFILE_TRACE_EXIT,
	};
	uint32_t id = functions__pseudo(
		functions,
		names[activity < LS_ACTIVITY_COUNT && names[activity] ? activity : LS_ACTIVITY_GC]);

	if (id)
		functions->shown[id].source = functions->shown[id].name;
	return id;
}

uint32_t functions__gc(struct functions *functions)
{
	return functions__activity(functions, LS_ACTIVITY_GC);
}

uint32_t functions__at_line(struct functions *functions, uint32_t function, uint32_t line)
{
	struct key_head head = {.kind = KIND_LINE, .number = function, .line = line};
	struct entry *entry;
	bool is_new;

	if (!line)
		return function;
	entry = find_or_add(functions, &head, "", &is_new);
	if (!entry)
		return 0;
	functions->namings[entry->id].function = function;
	functions->shown[entry->id].current_line = line;
	return entry->id;
}

uint32_t functions__called(struct functions *functions, uint32_t function, const char *name)
{
	struct key_head head = {.kind = KIND_CALLED, .number = function};
	struct entry *entry;
	bool is_new;

	entry = find_or_add(functions, &head, name, &is_new);
	if (!entry)
		return 0;
	functions->namings[entry->id].function = function;
	functions->shown[entry->id].source = functions->shown[function].source;
	return entry->id;
}

uint32_t functions__program(struct functions *functions)
{
	return ++functions->programs;
}

uint32_t functions__count(const struct functions *functions)
{
	return functions->count - functions->free_count;
}

uint32_t functions__highest(const struct functions *functions)
{
	return functions->count;
}

static const struct entry *entry_of(const struct functions *functions, uint32_t function)
{
	return function && function <= functions->count ? functions->namings[function].entry : NULL;
}

const char *functions__source(const struct functions *functions, uint32_t function)
{
	const struct entry *entry = entry_of(functions, function);

	if (entry && entry->key.kind == KIND_LINE) {
		function = (uint32_t)entry->key.number;
		entry = entry_of(functions, function);
	}
	return entry && (entry->key.kind == KIND_SCRIPT || entry->key.kind == KIND_NATIVE)
		       ? functions->shown[function].source
		       : NULL;
}

static void evict(struct functions *functions, uint32_t id)
{
	struct naming *naming = &functions->namings[id];

	if (naming->entry) {
		HASH_DEL(functions->entries, naming->entry);
		free(naming->entry);
	}
	functions->line_bytes -= line_table__size(naming->lines);
	free_naming(naming);
	*naming = (struct naming){.next_free = functions->first_free};
	functions->shown[id] = (struct ls_profile_function){0};
	functions->first_free = id;
	functions->free_count++;
}

uint32_t functions__evict(struct functions *functions, uint8_t *used)
{
	uint32_t evicted = 0;

	for (uint32_t id = 1; id <= functions->count; id++)
		if (used[id])
			used[functions->namings[id].function] = 1;
	for (uint32_t id = 1; id <= functions->count; id++) {
		/* Without a source, it is a pseudo function or was already evicted. */
		if (used[id] || !functions->shown[id].source)
			continue;
		evict(functions, id);
		evicted++;
	}
	return evicted;
}

/* Enough for programs of a million lines. */
#define LINE_BYTES_MAX (16U << 20)

void functions__keep_lines(struct functions *functions, uint32_t function,
			   const struct line_table *lines)
{
	struct naming *naming = &functions->namings[function];
	size_t size = line_table__size(lines);

	if (naming->lines || functions->line_bytes + size > LINE_BYTES_MAX ||
	    line_table__copy(lines, &naming->lines))
		return;
	functions->line_bytes += size;
}

const struct line_table *functions__lines(const struct functions *functions, uint32_t function)
{
	return functions->namings[function].lines;
}
