/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "functions_fixture.h"

int make_functions(void **state)
{
	*state = functions__new();
	return *state ? 0 : -1;
}

int free_functions(void **state)
{
	functions__free(*state);
	return 0;
}

uint32_t script_function(struct functions *functions, const char *source, uint32_t line,
			 uint32_t last_line, uint64_t shape)
{
	struct function_identity identity = {source, line, last_line, shape};
	uint32_t id = functions__script(functions, &identity);

	assert_int_not_equal(id, 0);
	return id;
}

uint32_t c_function(struct functions *functions, uint32_t program, uint64_t file, uint64_t place,
		    const char *name)
{
	struct c_function_identity identity = {
		.file = file, .place = place, .program = program, .name = name};
	uint32_t id = functions__c(functions, &identity);

	assert_int_not_equal(id, 0);
	return id;
}

const struct ls_profile_function *shown(struct functions *functions, uint32_t id)
{
	static struct ls_profile profile;

	functions__export(functions, &profile);
	assert_in_range(id, 1, profile.function_count);
	return &profile.functions[id];
}

void vote(struct functions *functions, uint32_t id, const char *name, int times)
{
	while (times-- > 0)
		assert_int_equal(functions__vote(functions, id, name), 0);
}
