/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "profile/name_votes.h"

enum kind { KIND_SCRIPT = 1, KIND_NATIVE, KIND_C, KIND_PSEUDO, KIND_LINE };

/* The lookup key of a function is this, followed by its source or name, as bytes. */
struct key_head {
	uint64_t number; /* shape, place or function */
	uint64_t file;   /* of a C function; 0 elsewhere */
	uint32_t kind;
	uint32_t line;
	uint32_t last_line;
	uint32_t program; /* of a C function; 0 elsewhere */
};

struct entry {
	uint32_t id;
	size_t key_size;
	UT_hash_handle hh;
	struct key_head key; /* followed by the text */
};

/* Kept for each function in `shown`, by id. */
struct naming {
	struct entry *entry; /* NULL: it was evicted */
	struct name_votes votes;
	char *given;        /* set by functions__rename() or functions__rename_c() */
	char *called;       /* of a C function: its callers' name for it, and its place */
	bool is_given;      /* `given`, even if disputed, is from the program or a module */
	bool is_disputed;   /* processes disagree, so `given` is NULL */
	bool is_defined;    /* `given` is from its definition in the source text, */
	bool is_inferred;   /* or in bytecode, */
	bool is_doubtful;   /* which has two names for it: callers' names do not count either */
	uint32_t definer;   /* the program that looked for its definition last; 0: none did */
	uint32_t next_free; /* if it was evicted: the next free id */
	uint32_t function;  /* not 0: this is that function at one of its lines */
};

struct functions {
	struct entry *entries;
	struct ls_profile_function *shown;
	struct naming *namings;
	uint32_t count; /* highest id */
	uint32_t room;
	uint32_t first_free; /* head of the list of evicted ids; 0: none */
	uint32_t free_count;
	uint32_t programs;
};

struct functions *functions__new(void)
{
	return calloc(1, sizeof(struct functions));
}

static void free_names(struct naming *naming)
{
	name_votes__free(&naming->votes);
	free(naming->given);
	free(naming->called);
	naming->given = naming->called = NULL;
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
		free_names(&functions->namings[id]);
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

static const char *text_of(const struct entry *entry)
{
	return (const char *)&entry->key + sizeof(entry->key);
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
	free_names(naming);
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

int functions__rename(struct functions *functions, uint32_t function, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(functions->namings[function].given);
	functions->namings[function].given = copy;
	return 0;
}

/* Programs disagree: takes the name away, also from what was exported. */
static void drop_name(struct functions *functions, uint32_t function)
{
	free(functions->namings[function].given);
	functions->namings[function].given = NULL;
	functions->shown[function].name = NULL;
}

bool functions__awaits_definition(const struct functions *functions, uint32_t function,
				  uint32_t program)
{
	return functions->namings[function].definer != program;
}

bool functions__is_defined(const struct functions *functions, uint32_t function)
{
	const struct naming *naming = &functions->namings[function];

	if (naming->function)
		naming = &functions->namings[naming->function];
	return naming->is_defined || naming->is_inferred;
}

bool functions__is_in_text(const struct functions *functions, uint32_t function)
{
	return functions->namings[function].is_defined;
}

/* Bytecode cannot tell "M.f" with a parameter `self` from "M:f". */
static bool is_same_definition(const char *name, const char *other)
{
	for (; *name && *other; name++, other++)
		if (*name != *other && !(strchr(".:", *name) && strchr(".:", *other)))
			return false;
	return *name == *other;
}

int functions__define(struct functions *functions, uint32_t function, uint32_t program,
		      const char *name)
{
	struct naming *naming = &functions->namings[function];

	naming->definer = program;
	if (!*name || naming->is_disputed ||
	    (naming->is_inferred && !is_same_definition(name, naming->given)))
		return 0;
	if (!naming->is_defined) {
		naming->is_defined = true;
		naming->is_inferred = false;
		return functions__rename(functions, function, name);
	}
	if (strcmp(name, naming->given) != 0) {
		drop_name(functions, function);
		naming->is_defined = false;
		naming->is_disputed = true;
	}
	return 0;
}

int functions__infer(struct functions *functions, uint32_t function, const char *name)
{
	struct naming *naming = &functions->namings[function];
	bool is_same = naming->given && is_same_definition(name, naming->given);

	if (naming->is_disputed || naming->is_doubtful || is_same)
		return 0;
	if (!naming->is_inferred) {
		naming->is_inferred = true;
		naming->is_defined = false;
		return functions__rename(functions, function, name);
	}
	drop_name(functions, function);
	naming->is_inferred = false;
	naming->is_doubtful = true;
	return 0;
}

int functions__rename_c(struct functions *functions, uint32_t function, const char *name,
			bool is_given)
{
	struct naming *naming = &functions->namings[function];
	bool is_first = !naming->given && !naming->is_disputed;

	if (is_given < naming->is_given || !strcmp(name, text_of(naming->entry)))
		return 0;
	if (is_first || is_given > naming->is_given) {
		naming->is_given = is_given;
		naming->is_disputed = false;
		return functions__rename(functions, function, name);
	}
	if (naming->given && strcmp(name, naming->given) != 0) {
		free(naming->given);
		naming->given = NULL;
		naming->is_disputed = true;
	}
	return 0;
}

static int add_votes(struct functions *functions, uint32_t function, const char *name,
		     uint64_t count)
{
	struct naming *naming = &functions->namings[function];

	free(naming->called);
	naming->called = NULL;
	return name_votes__add(&naming->votes, name, count);
}

int functions__vote(struct functions *functions, uint32_t function, const char *name)
{
	return add_votes(functions, function, name, 1);
}

int functions__suggest(struct functions *functions, uint32_t function, const char *name)
{
	return add_votes(functions, function, name, 0);
}

/* "iterator of gmatch (liblua5.3.so+0x293e0)", or the name in its identity. */
static const char *c_name(struct naming *naming)
{
	const char *place = text_of(naming->entry), *called = name_votes__agreed(&naming->votes);

	if (!called)
		return place;
	if (!naming->called && asprintf(&naming->called, "%s (%s)", called, place) < 0)
		naming->called = NULL;
	return naming->called ? naming->called : place;
}

static void show_at_line(struct functions *functions, uint32_t id)
{
	uint32_t function = functions->namings[id].function;
	uint32_t line = functions->shown[id].current_line;

	functions->shown[id] = functions->shown[function];
	functions->shown[id].current_line = line;
	functions->shown[id].function = function;
}

void functions__export(struct functions *functions, struct ls_profile *profile)
{
	for (uint32_t id = 1; id <= functions->count; id++) {
		struct naming *naming = &functions->namings[id];

		if (naming->given)
			functions->shown[id].name = naming->given;
		else if (naming->entry && naming->entry->key.kind == KIND_C)
			functions->shown[id].name = c_name(naming);
		else if (naming->votes.first && !naming->is_doubtful)
			functions->shown[id].name = name_votes__elected(&naming->votes);
	}
	for (uint32_t id = 1; id <= functions->count; id++)
		if (functions->namings[id].function)
			show_at_line(functions, id);
	profile->functions = functions->shown;
	profile->function_count = functions->count;
}
