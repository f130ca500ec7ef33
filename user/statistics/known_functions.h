/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of a profile as of the last update, by id. For the statistics alone. */
#ifndef LS_KNOWN_FUNCTIONS_H
#define LS_KNOWN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/patterns.h"
#include "profile/profile.h"
#include "profile/script_split.h"

struct known_function {
	char *source, *name;
	uint32_t line;
	bool is_native;
	enum script_part part;
	bool is_plugin;   /* its chunk is a plugin's */
	bool has_changed; /* its id has been reused since the previous update */
	bool has_parted;  /* it counted as another function at the previous update */
	uint32_t whole;   /* the function as which it counts; 0: itself */
};

struct known_functions {
	struct known_function *by_id;   /* element 0 is not a function */
	uint32_t count;                 /* highest id */
	uint32_t other;                 /* the function "(other)"; 0: none yet */
	const struct patterns *plugins; /* fit chunks of plugins; borrowed, NULL: none */
};

/* *have_changed: an id now belongs to another function. 0 or -ENOMEM. */
int known_functions__take(struct known_functions *known, const struct ls_profile *profile,
			  bool *have_changed);
void known_functions__free(struct known_functions *known);

/* Whether that id of the profile is still the function that it was at the last update. */
bool known_functions__is_same(const struct known_functions *known, const struct ls_profile *profile,
			      uint32_t id);

/* The entry as which `id` counts: a function at one of its lines is that function. Of 0: 0. */
static inline uint32_t known_functions__whole(const struct ls_profile *profile, uint32_t id)
{
	return id && profile->functions[id].function ? profile->functions[id].function : id;
}

/* A function that plugins run is counted apart from the same function elsewhere. */
static inline uint32_t known_functions__key(uint32_t id, bool is_plugin)
{
	return 2 * id + is_plugin;
}

static inline const struct known_function *known_functions__of(const struct known_functions *known,
							       uint32_t key)
{
	return &known->by_id[key / 2];
}

#endif
