/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that embed Luau (tests/hosts/rules.mk has them built). To be included after cmocka.h. */
#ifndef TEST_LUAU_HOSTS_H
#define TEST_LUAU_HOSTS_H

#include "spying.h"

/* Each layout of a function that compilers were seen to make. */
#define LUAU_RELEASE_COUNT 8
extern const char *const luau_releases[LUAU_RELEASE_COUNT];

/* Returns the path of the program of that build; it stays valid as long as built_program()'s. */
const char *luau_host__program(const char *build);

/* Writes the script under that name and starts the program with it; the test is skipped without. */
struct child *luau_host__start(struct stage *stage, const char *build, const char *name,
			       const char *script);

/* Takes some thousand samples of the program that runs the script; each counts the same. */
struct scriptprofile *luau_host__record(struct stage *stage, const char *build, const char *script,
					const char *until);

/* What the profile says of the layout of the interpreter. */
const char *luau_host__layout_of(const struct scriptprofile *profile);

#endif
