/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each function is called: by its definition, by its program, or as most callers have it. */
#include "profile/functions_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "iterator of gmatch (liblua5.3.so+0x293e0)"; the place alone when out of memory. */
static const char *name_and_place(struct naming *naming, const char *called, const char *place)
{
	if (!naming->called && asprintf(&naming->called, "%s (%s)", called, place) < 0)
		naming->called = NULL;
	return naming->called ? naming->called : place;
}

/* The name on which callers agree, beside the place in its identity; or that alone. */
static const char *c_name(struct naming *naming)
{
	const char *place = text_of(naming->entry), *called = name_votes__agreed(&naming->votes);

	return called && !naming->is_symbol ? name_and_place(naming, called, place) : place;
}

static void show_at_line(struct functions *functions, uint32_t id)
{
	uint32_t function = functions->namings[id].function;
	uint32_t line = functions->shown[id].current_line;

	functions->shown[id] = functions->shown[function];
	functions->shown[id].current_line = line;
	functions->shown[id].function = function;
}

/* As the function, unless that has no name but those on which its callers disagree. */
static void show_as_called(struct functions *functions, uint32_t id)
{
	struct naming *naming = &functions->namings[id];
	uint32_t function = naming->function;
	const struct naming *whole = &functions->namings[function];

	functions->shown[id] = functions->shown[function];
	functions->shown[id].function = function;
	if (whole->given || name_votes__agreed(&whole->votes))
		return;
	functions->shown[id].function = 0;
	functions->shown[id].name =
		name_and_place(naming, text_of(naming->entry), text_of(whole->entry));
}

static void show_part(struct functions *functions, uint32_t id)
{
	if (functions->namings[id].entry->key.kind == KIND_LINE)
		show_at_line(functions, id);
	else
		show_as_called(functions, id);
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
			show_part(functions, id);
	profile->functions = functions->shown;
	profile->function_count = functions->count;
}
