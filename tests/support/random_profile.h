/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles for property tests: random call trees with what writers and readers may stumble over,
 * the same for the same seed.
 */
#ifndef TEST_RANDOM_PROFILE_H
#define TEST_RANDOM_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct random_profile_options {
	uint32_t seed;
	uint32_t nodes;
	uint32_t depth; /* the deepest stack has this many functions */
	bool has_timeline;
};

struct random_profile;

/* Fails the test when out of memory. Free with random_profile__free(). */
struct random_profile *random_profile__new(const struct random_profile_options *options);
void random_profile__free(struct random_profile *random);

/* As writers get it: merged, with at most one child per function and node. */
const struct ls_profile *random_profile__profile(const struct random_profile *random);

#endif
