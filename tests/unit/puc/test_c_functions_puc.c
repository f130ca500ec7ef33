/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which names functions get from hand-made tables in the layout of 5.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

static void names_functions_two_levels_deep(void **state)
{
	struct world *world = *state;
	struct table *base = world__add_table(world, world->loaded, "_G");
	struct table *redis = world__add_table(world, world->globals, "redis");
	struct table *deep = world__add_table(world, redis, "deep");

	world__add_light(world, base, "print", 0x1000);
	world__add_light(world, world__add_table(world, world->loaded, "string"), "format", 0x1001);
	world__add_closure(world, world->loaded, "module", 0x1002, 1);
	world__add_light(world, redis, "call", 0x1003);
	world__add_light(world, world->globals, "dofile", 0x1004);
	world__add_light(world, deep, "function", 0x1005);
	world__add(world, base, "lua", TAG_LUA_CLOSURE, 0x1006);
	world__add(world, base, "number", TAG_INTEGER, 0x1007);
	world__add(world, base, "gone", 0, 0x1008);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "print");
	assert_string_equal(world__name(world, 0x1001), "string.format");
	assert_string_equal(world__name(world, 0x1002), "module");
	assert_string_equal(world__name(world, 0x1003), "redis.call");
	assert_string_equal(world__name(world, 0x1004), "dofile");
	for (uint64_t function = 0x1005; function <= 0x1008; function++)
		assert_string_equal(world__name(world, function), "(none)");
}

static void names_methods_and_metamethods(void **state)
{
	struct world *world = *state;
	struct table *file = world__add_table(world, world->registry, "FILE*");
	struct table *own = world__add_table(world, world->registry, "OWN");

	world__add_light(world, file, "__gc", 0x1000);
	world__add_light(world, file, "__close", 0x1000);
	world__add_light(world, world__add_table(world, file, "__index"), "read", 0x1001);
	world__add_light(world, world__add_table(world, file, "other"), "read", 0x1002);
	world__add_light(world, own, "seek", 0x1003);
	world__add(world, own, "__index", TAG_TABLE, (uintptr_t)own);
	world__add_light(world, world__add_table(world, world->registry, "_PRELOAD"), "module",
			 0x1004);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "FILE*.__gc");
	assert_string_equal(world__name(world, 0x1001), "FILE*:read");
	assert_string_equal(world__name(world, 0x1002), "(none)");
	assert_string_equal(world__name(world, 0x1003), "OWN:seek");
	assert_string_equal(world__name(world, 0x1004), "(none)");
}

/* All classes of Wireshark share one __index. */
static void names_no_type_for_what_several_types_share(void **state)
{
	struct world *world = *state;
	struct table *dir = world__add_table(world, world->registry, "Dir");
	struct table *tvb = world__add_table(world, world->registry, "Tvb");

	world__add_light(world, dir, "__index", 0x1000);
	world__add_light(world, tvb, "__index", 0x1000);
	world__add_light(world, tvb, "range", 0x1001);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "__index");
	assert_string_equal(world__name(world, 0x1001), "Tvb:range");
}

static void add_script(struct world *world, struct table *table, const char *key,
		       uint64_t prototype)
{
	world__add_closure(world, table, key, prototype, 0);
	world->closures[world->closure_count - 1].tt = 6;
	table->nodes[table->used - 1].tag = TAG_LUA_CLOSURE;
}

static bool is_given(struct world *world, uint64_t function)
{
	return c_function_names__is_given(world->functions, function);
}

/* A table that a script has put its own functions into may well hold aliases. */
static void takes_tables_of_c_functions_alone_for_libraries(void **state)
{
	struct world *world = *state;
	struct table *core = world__add_table(world, world->globals, "core");
	struct table *mine = world__add_table(world, world->globals, "me");

	world__add_light(world, core, "now", 0x1000);
	world__add_light(world, core, "sleep", 0x1001);
	world__add_light(world, mine, "now", 0x1000);
	world__add_light(world, mine, "other", 0x1002);
	add_script(world, mine, "run", 0x2000);
	world__add_light(world, world->globals, "n", 0x1000);
	world__add_light(world, world__add_table(world, world->globals, "few"), "one", 0x1003);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "core.now");
	assert_true(is_given(world, 0x1000));
	assert_string_equal(world__name(world, 0x1002), "me.other");
	assert_false(is_given(world, 0x1002));
	assert_string_equal(world__name(world, 0x1003), "few.one");
	assert_false(is_given(world, 0x1003));
}

static void names_script_functions_by_their_prototypes(void **state)
{
	struct world *world = *state;

	add_script(world, world->globals, "main", 0x2000);
	add_script(world, world->registry, "f_0123", 0x2001);
	world__add_light(world, world->registry, "hook", 0x1000);
	add_script(world, world->globals, "one", 0x2002);
	add_script(world, world->globals, "other", 0x2002);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x2000), "main");
	assert_false(is_given(world, 0x2000));
	assert_string_equal(world__name(world, 0x2001), "f_0123");
	assert_true(is_given(world, 0x2001));
	assert_string_equal(world__name(world, 0x1000), "(none)");
	assert_string_equal(world__name(world, 0x2002), "(none)");
}

/* Redis runs its libraries in a table of globals that is empty but for its metatable. */
static void looks_behind_the_globals_of_a_sandbox(void **state)
{
	struct world *world = *state;
	struct table *metatable = world__add_table(world, NULL, NULL);
	struct table *behind = world__add_table(world, metatable, "__index");
	struct table *redis = world__add_table(world, behind, "redis");

	world->globals->metatable = (uintptr_t)metatable;
	/* A circle. */
	behind->metatable = (uintptr_t)metatable;
	world__add_light(world, redis, "call", 0x1000);
	world__add_light(world, redis, "pcall", 0x1001);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "redis.call");
	assert_string_equal(world__name(world, 0x1001), "redis.pcall");
}

static void prefers_loaded_then_short_then_alphabetical_names(void **state)
{
	struct world *world = *state;
	struct table *module = world__add_table(world, world->loaded, "module");

	world__add_light(world, world__add_table(world, world->registry, "M"), "f", 0x1000);
	world__add_light(world, world->globals, "a", 0x1000);
	world__add_light(world, module, "long_name", 0x1000);
	world__add_light(world, world__add_table(world, world->registry, "M2"), "f", 0x1001);
	world__add_light(world, world->globals, "long_name", 0x1001);
	world__add_light(world, module, "b_name", 0x1002);
	world__add_light(world, module, "a_longer_name", 0x1002);
	world__add_light(world, module, "a_name", 0x1002);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "module.long_name");
	assert_string_equal(world__name(world, 0x1001), "long_name");
	assert_string_equal(world__name(world, 0x1002), "module.a_name");
}

static void keeps_a_name_once_given(void **state)
{
	struct world *world = *state;

	world__add_light(world, world->globals, "first_name", 0x1000);
	assert_int_equal(world__read(world), 0);
	world__add_light(world, world->loaded, "a", 0x1000);
	world__add_light(world, world->loaded, "b", 0x1001);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "first_name");
	assert_string_equal(world__name(world, 0x1001), "b");
}

static void gives_a_trampoline_no_name(void **state)
{
	struct world *world = *state;
	struct table *one = world__add_table(world, world->loaded, "one");
	struct table *two = world__add_table(world, world->loaded, "two");

	world__add_closure(world, one, "get", 0x1000, 1);
	world__add_closure(world, one, "set", 0x1000, 1);
	world__add_closure(world, one, "same", 0x1001, 1);
	world__add_closure(world, two, "same", 0x1001, 1);
	world__add_closure(world, one, "plain", 0x1002, 0);
	world__add_closure(world, two, "alias", 0x1002, 0);
	assert_int_equal(world__read(world), 0);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "(none)");
	assert_string_equal(world__name(world, 0x1001), "one.same");
	assert_string_equal(world__name(world, 0x1002), "one.plain");
}

static void cuts_long_names_and_refuses_those_with_a_nul(void **state)
{
	struct world *world = *state;
	struct table *module = world__add_table(world, world->loaded, "module");
	char key[251];

	memset(key, 'x', 250);
	key[250] = '\0';
	world__add_light(world, module, key, 0x1000);
	key[60] = '\0';
	world__add_light(world, module, key, 0x1001);
	world__add_bytes(world, module, "a\0b", 3, TAG_LIGHT, 0x1002);
	world__add_bytes(world, module, "", 0, TAG_LIGHT, 0x1003);
	assert_int_equal(world__read(world), 0);
	assert_int_equal(strlen(world__name(world, 0x1000)), 127);
	assert_int_equal(strncmp(world__name(world, 0x1000), "module.xxx", 10), 0);
	assert_int_equal(strlen(world__name(world, 0x1001)), 67);
	assert_string_equal(world__name(world, 0x1002), "(none)");
	assert_string_equal(world__name(world, 0x1003), "(none)");
}

static void survives_random_bytes(void **state)
{
	struct world *world = *state;
	unsigned char *bytes = (unsigned char *)world;
	/* Not what the test itself follows. */
	size_t size = offsetof(struct world, table_count);

	names_functions_two_levels_deep(state);
	srandom(1);
	for (int i = 0; i < 3000; i++) {
		size_t at = (size_t)random() % size;
		unsigned char honest = bytes[at];

		bytes[at] = (unsigned char)random();
		world__read(world);
		if (i % 10)
			bytes[at] = honest;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(names_functions_two_levels_deep),
		with_world(names_methods_and_metamethods),
		with_world(names_no_type_for_what_several_types_share),
		with_world(takes_tables_of_c_functions_alone_for_libraries),
		with_world(names_script_functions_by_their_prototypes),
		with_world(looks_behind_the_globals_of_a_sandbox),
		with_world(prefers_loaded_then_short_then_alphabetical_names),
		with_world(keeps_a_name_once_given),
		with_world(gives_a_trampoline_no_name),
		with_world(cuts_long_names_and_refuses_those_with_a_nul),
		with_world(survives_random_bytes),
	};

	return cmocka_run_group_tests_name("c_functions_puc", tests, NULL, NULL);
}
