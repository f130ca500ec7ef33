/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a reader makes of a file: a profile, and the text that holds its names. */
#ifndef LS_LOADED_PROFILE_H
#define LS_LOADED_PROFILE_H

#include <stdlib.h>

#include "combine/profile_builder.h"
#include "reader/read_profile.h"

/*
 * The recorder's version if another program recorded: unknown, but present. Without a version, a
 * ScriptProfiler file has no lines, no order of samples and no sample counts.
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
