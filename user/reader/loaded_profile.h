/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a reader makes of a file: a profile, and what its names stand in. */
#ifndef LS_LOADED_PROFILE_H
#define LS_LOADED_PROFILE_H

#include <stdlib.h>

#include "combine/profile_builder.h"
#include "reader/read_profile.h"

/*
 * A recorder's version where another program recorded: none is known, but there is one. Without it,
 * a ScriptProfiler file has neither lines nor the order of samples nor how many there are.
 */
#define LOADED_PROFILE_VERSION ""

/* Owns all of it; all zero, it is empty. */
struct loaded_profile {
	char *text;                      /* that names are borrowed from */
	struct read_profile *read;       /* the profile of a ScriptProfiler file, or NULL */
	struct profile_builder *builder; /* else that of any other */
};

/* Valid until it is cleared. */
static inline const struct ls_profile *loaded_profile__profile(const struct loaded_profile *loaded)
{
	return loaded->read ? read_profile__profile(loaded->read)
			    : profile_builder__profile(loaded->builder);
}

static inline void loaded_profile__clear(struct loaded_profile *loaded)
{
	read_profile__free(loaded->read);
	profile_builder__free(loaded->builder);
	free(loaded->text);
	*loaded = (struct loaded_profile){};
}

#endif
