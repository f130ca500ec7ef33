/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of a recording: a test defines and looks them up here. */
#ifndef TEST_FUNCTIONS_FIXTURE_H
#define TEST_FUNCTIONS_FIXTURE_H

#include <stdint.h>

#include "profile/functions.h"

/* Setup and teardown of cmocka; *state are the functions. */
int make_functions(void **state);
int free_functions(void **state);

#define fixed(test) cmocka_unit_test_setup_teardown(test, make_functions, free_functions)

/* Each returns the id of a function, which may be new. */
uint32_t script_function(struct functions *functions, const char *source, uint32_t line,
			 uint32_t last_line, uint64_t shape);

/* At a place in the memory of a program, or in a file. */
uint32_t c_function(struct functions *functions, uint32_t program, uint64_t file, uint64_t place,
		    const char *name);

/* Returns the exported form, valid until the next call. */
const struct ls_profile_function *shown(struct functions *functions, uint32_t id);

/* Gives the function this name in the votes of so many callers. */
void vote(struct functions *functions, uint32_t id, const char *name, int times);

#endif
