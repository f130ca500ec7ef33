/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/calibration_luau.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "luau/layout_luau.h"
#include "luau/proto_members_luau.h"
#include "luau/specimens_luau.h"

/* How many closures point to an object of each type, by the word that holds the pointer. */
struct objects {
	size_t counts[CLOSURE_WORDS][LS_LUAU_TYPES_MAX];
};

static void count_objects(const struct specimens *specimens, struct objects *objects)
{
	memset(objects, 0, sizeof(*objects));
	for (size_t i = 0; i < specimens->closure_count; i++)
		for (size_t word = 1; word < CLOSURE_WORDS; word++) {
			uint8_t type = specimens_luau__type_at(specimens,
							       specimens->closures[i].words[word]);

			/* The types of values come first; prototypes are not values. */
			if (type > specimens->state.tt && type < LS_LUAU_TYPES_MAX)
				objects->counts[word][type]++;
		}
}

/* Removes the most frequent pair of word and type. Returns false if none is left. */
static bool take_most(struct objects *objects, size_t *word, size_t *type)
{
	size_t most = 0;

	for (size_t i = 1; i < CLOSURE_WORDS; i++)
		for (size_t j = 0; j < LS_LUAU_TYPES_MAX; j++) {
			if (objects->counts[i][j] <= most)
				continue;
			most = objects->counts[i][j];
			*word = i;
			*type = j;
		}
	if (!most)
		return false;
	objects->counts[*word][*type] = 0;
	return true;
}

/* Closures also point to upvalues, which may be more frequent than prototypes. */
#define TRIES 6

/* Derives the layout, assuming that closures point to objects of `type`, their prototypes. */
static int derive_as(struct specimens *specimens, size_t closure_function, uint8_t type,
		     struct ls_luau_layout *layout, const char **missing)
{
	*layout = (struct ls_luau_layout){
		.string_type = specimens->state.tt - specimens->string_type,
		.function_type = specimens->state.tt - specimens->function_type,
		.closure_function = (uint8_t)closure_function,
		.proto_constants = layouts_luau[0].offsets.proto_constants,
		.proto_code = layouts_luau[0].offsets.proto_code,
		.proto_children = layouts_luau[0].offsets.proto_children,
	};
	specimens_luau__read_protos(specimens, closure_function, type);
	return proto_members_luau__find(specimens, layout, missing);
}

static int derive(struct specimens *specimens, struct ls_luau_layout *layout, const char **missing)
{
	const char *first = NULL;
	struct objects objects;
	size_t word, type;

	count_objects(specimens, &objects);
	for (int i = 0; i < TRIES && take_most(&objects, &word, &type); i++) {
		if (!derive_as(specimens, word * 8, (uint8_t)type, layout, missing))
			return 0;
		if (!first)
			first = *missing;
	}
	*missing = first ? first : "no member of closures points to a prototype";
	return -ENODATA;
}

int calibration_luau__run(const struct target_memory *memory, uint64_t state,
			  struct ls_luau_layout *layout, char *reason, size_t reason_size)
{
	struct specimens *specimens = calloc(1, sizeof(*specimens));
	const char *missing = NULL;
	int error;

	*reason = '\0';
	if (!specimens)
		return -ENOMEM;
	error = specimens_luau__read(specimens, memory, state, &missing);
	if (!error)
		error = derive(specimens, layout, &missing);
	if (error == -ENODATA)
		snprintf(reason, reason_size, "%s (closures seen: %zu)", missing,
			 specimens->closure_count);
	free(specimens);
	return error;
}
