/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile made of something else than a session: of other profiles, or of a foreign file.
 * Functions that look alike (same source, name, line, flags and current line) are one, and a node
 * has at most one child per function.
 */
#ifndef LS_PROFILE_BUILDER_H
#define LS_PROFILE_BUILDER_H

#include "profile/call_tree.h"
#include "profile/profile.h"

struct profile_builder;

/* NULL when out of memory. profile_builder__free() takes NULL. */
struct profile_builder *profile_builder__new(void);
void profile_builder__free(struct profile_builder *builder);

/*
 * The id of the function that looks like `function`, made on first use; 0 when out of memory. Its
 * strings are borrowed until the builder is freed; its own ids and lines are not taken over.
 */
uint32_t profile_builder__function(struct profile_builder *builder,
				   const struct ls_profile_function *function);

/* The tree that functions' nodes go into. Owned by the builder. */
struct call_tree *profile_builder__tree(struct profile_builder *builder);

/* Adds time and samples of a function at a line. 0 or -ENOMEM. */
int profile_builder__add_line(struct profile_builder *builder, uint32_t function,
			      const struct ls_profile_line *line);

/* Adds a sample to the timeline, in any order. 0 or -ENOMEM. */
int profile_builder__add_sample(struct profile_builder *builder,
				const struct ls_profile_sample *sample);

/* Adds an event, in any order; its strings are borrowed. 0 or -ENOMEM. */
int profile_builder__add_event(struct profile_builder *builder,
			       const struct ls_profile_event *event);

/*
 * The profile, once all is added: everything is sorted. `recorder` is copied but for its events.
 * 0 or -ENOMEM. The profile is valid until the builder is freed.
 */
int profile_builder__finish(struct profile_builder *builder,
			    const struct ls_profile_recorder *recorder);
const struct ls_profile *profile_builder__profile(const struct profile_builder *builder);

#endif
