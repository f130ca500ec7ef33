/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hand-made tables in the layout of 5.4. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "puc/family_puc.h"
#include "symbols/c_functions.h"
#include "puc/layout_puc.h"

/* lobject.h of 5.4 */
#define TAG_TABLE        69
#define TAG_SHORT_STRING 68
#define TAG_LONG_STRING  84
#define TAG_INTEGER      3
#define TAG_LUA_CLOSURE  70
#define TAG_LIGHT        22
#define TAG_C_CLOSURE    102
#define NODES            16

struct node {
	uint64_t value;
	uint8_t tag, key_tag;
	uint16_t padding;
	int32_t next;
	uint64_t key;
};

struct table {
	uint64_t next;
	uint8_t tt, marked, flags, log_slots;
	uint32_t array_count;
	uint64_t array, node, last_free, metatable, gclist;
	size_t used;
	struct node nodes[NODES];
};

struct string {
	uint64_t next;
	uint8_t tt, marked, extra, short_length;
	uint32_t hash;
	uint64_t length;
	char text[300];
};

struct closure {
	uint64_t next;
	uint8_t tt, marked, upvalue_count, padding[5];
	uint64_t gclist, function;
};

struct value {
	uint64_t value;
	uint8_t tag;
	uint8_t padding[7];
};

/* A VM with an empty package.loaded, no metatables, and globals that nothing else refers to. */
struct world {
	uint8_t state[256], global[2048];
	struct value array[2];
	struct table tables[24];
	struct string strings[128];
	struct closure closures[8];
	size_t table_count, string_count, closure_count;
	struct table *registry, *loaded, *globals;
	struct c_function_names *functions;
};

static struct target_memory own_memory(void)
{
	return (struct target_memory){.pid = getpid()};
}

/* The newest of a minor version. */
static const struct ls_puc_layout *layout_of(int minor)
{
	const struct ls_puc_layout *layout = NULL;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor == minor)
			layout = &layouts_puc[i].offsets;
	assert_non_null(layout);
	return layout;
}

static struct string *add_string(struct world *world, const char *text, size_t length)
{
	struct string *string = &world->strings[world->string_count++];

	assert_true(world->string_count <= 128);
	string->tt = length <= 40 ? 4 : 20;
	string->short_length = length <= 40 ? (uint8_t)length : 0xff;
	string->length = length <= 40 ? 0x4141414141414141 : length;
	memcpy(string->text, text, length);
	return string;
}

static void add_bytes(struct world *world, struct table *table, const char *key, size_t length,
		      uint8_t tag, uint64_t value)
{
	struct node *node = &table->nodes[table->used++];

	assert_true(table->used <= NODES);
	node->value = value;
	node->tag = tag;
	node->key_tag = length <= 40 ? TAG_SHORT_STRING : TAG_LONG_STRING;
	node->key = (uintptr_t)add_string(world, key, length);
}

static void add(struct world *world, struct table *table, const char *key, uint8_t tag,
		uint64_t value)
{
	add_bytes(world, table, key, strlen(key), tag, value);
}

static void add_light(struct world *world, struct table *table, const char *key, uint64_t function)
{
	add(world, table, key, TAG_LIGHT, function);
}

static void add_closure(struct world *world, struct table *table, const char *key,
			uint64_t function, int upvalues)
{
	struct closure *closure = &world->closures[world->closure_count++];

	closure->tt = 38;
	closure->upvalue_count = (uint8_t)upvalues;
	closure->function = function;
	add(world, table, key, TAG_C_CLOSURE, (uintptr_t)closure);
}

/* A new table as `key` of `table`, or for nobody. */
static struct table *add_table(struct world *world, struct table *table, const char *key)
{
	struct table *added = &world->tables[world->table_count++];

	added->tt = 5;
	added->log_slots = 4;
	added->node = (uintptr_t)added->nodes;
	if (table)
		add(world, table, key, TAG_TABLE, (uintptr_t)added);
	return added;
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct ls_puc_layout *layout = layout_of(4);
	struct value registry = {.tag = TAG_TABLE};
	uint64_t global = (uintptr_t)world->global;

	world->registry = add_table(world, NULL, NULL);
	world->loaded = add_table(world, world->registry, "_LOADED");
	world->globals = add_table(world, NULL, NULL);
	world->array[1] = (struct value){.value = (uintptr_t)world->globals, .tag = TAG_TABLE};
	world->registry->array = (uintptr_t)world->array;
	world->registry->array_count = 2;
	registry.value = (uintptr_t)world->registry;
	memcpy(world->state + layout->state_global, &global, 8);
	memcpy(world->global + layout->global_registry, &registry, sizeof(registry));
	world->functions = c_function_names__new();
	*state = world;
	return world->functions ? 0 : -1;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	c_function_names__free(world->functions);
	free(world);
	return 0;
}

static int read_world(struct world *world)
{
	struct target_memory own = own_memory();

	return c_functions__read(world->functions, &table_ops_puc, &own, layout_of(4),
				 (uintptr_t)world->state);
}

static const char *name_of(struct world *world, uint64_t function)
{
	const char *name = c_function_names__get(world->functions, function);

	return name ? name : "(none)";
}

static void names_functions_two_levels_deep(void **state)
{
	struct world *world = *state;
	struct table *base = add_table(world, world->loaded, "_G");
	struct table *redis = add_table(world, world->globals, "redis");
	struct table *deep = add_table(world, redis, "deep");

	add_light(world, base, "print", 0x1000);
	add_light(world, add_table(world, world->loaded, "string"), "format", 0x1001);
	add_closure(world, world->loaded, "module", 0x1002, 1);
	add_light(world, redis, "call", 0x1003);
	add_light(world, world->globals, "dofile", 0x1004);
	add_light(world, deep, "function", 0x1005);
	add(world, base, "lua", TAG_LUA_CLOSURE, 0x1006);
	add(world, base, "number", TAG_INTEGER, 0x1007);
	add(world, base, "gone", 0, 0x1008);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "print");
	assert_string_equal(name_of(world, 0x1001), "string.format");
	assert_string_equal(name_of(world, 0x1002), "module");
	assert_string_equal(name_of(world, 0x1003), "redis.call");
	assert_string_equal(name_of(world, 0x1004), "dofile");
	for (uint64_t function = 0x1005; function <= 0x1008; function++)
		assert_string_equal(name_of(world, function), "(none)");
}

static void names_methods_and_metamethods(void **state)
{
	struct world *world = *state;
	struct table *file = add_table(world, world->registry, "FILE*");
	struct table *own = add_table(world, world->registry, "OWN");

	add_light(world, file, "__gc", 0x1000);
	add_light(world, file, "__close", 0x1000);
	add_light(world, add_table(world, file, "__index"), "read", 0x1001);
	add_light(world, add_table(world, file, "other"), "read", 0x1002);
	add_light(world, own, "seek", 0x1003);
	add(world, own, "__index", TAG_TABLE, (uintptr_t)own);
	add_light(world, add_table(world, world->registry, "_PRELOAD"), "module", 0x1004);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "FILE*.__gc");
	assert_string_equal(name_of(world, 0x1001), "FILE*:read");
	assert_string_equal(name_of(world, 0x1002), "(none)");
	assert_string_equal(name_of(world, 0x1003), "OWN:seek");
	assert_string_equal(name_of(world, 0x1004), "(none)");
}

/* All classes of Wireshark share one __index. */
static void names_no_type_for_what_several_types_share(void **state)
{
	struct world *world = *state;
	struct table *dir = add_table(world, world->registry, "Dir");
	struct table *tvb = add_table(world, world->registry, "Tvb");

	add_light(world, dir, "__index", 0x1000);
	add_light(world, tvb, "__index", 0x1000);
	add_light(world, tvb, "range", 0x1001);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "__index");
	assert_string_equal(name_of(world, 0x1001), "Tvb:range");
}

static void add_script(struct world *world, struct table *table, const char *key,
		       uint64_t prototype)
{
	add_closure(world, table, key, prototype, 0);
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
	struct table *core = add_table(world, world->globals, "core");
	struct table *mine = add_table(world, world->globals, "me");

	add_light(world, core, "now", 0x1000);
	add_light(world, core, "sleep", 0x1001);
	add_light(world, mine, "now", 0x1000);
	add_light(world, mine, "other", 0x1002);
	add_script(world, mine, "run", 0x2000);
	add_light(world, world->globals, "n", 0x1000);
	add_light(world, add_table(world, world->globals, "few"), "one", 0x1003);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "core.now");
	assert_true(is_given(world, 0x1000));
	assert_string_equal(name_of(world, 0x1002), "me.other");
	assert_false(is_given(world, 0x1002));
	assert_string_equal(name_of(world, 0x1003), "few.one");
	assert_false(is_given(world, 0x1003));
}

static void names_script_functions_by_their_prototypes(void **state)
{
	struct world *world = *state;

	add_script(world, world->globals, "main", 0x2000);
	add_script(world, world->registry, "f_0123", 0x2001);
	add_light(world, world->registry, "hook", 0x1000);
	add_script(world, world->globals, "one", 0x2002);
	add_script(world, world->globals, "other", 0x2002);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x2000), "main");
	assert_false(is_given(world, 0x2000));
	assert_string_equal(name_of(world, 0x2001), "f_0123");
	assert_true(is_given(world, 0x2001));
	assert_string_equal(name_of(world, 0x1000), "(none)");
	assert_string_equal(name_of(world, 0x2002), "(none)");
}

/* Redis runs its libraries in a table of globals that is empty but for its metatable. */
static void looks_behind_the_globals_of_a_sandbox(void **state)
{
	struct world *world = *state;
	struct table *metatable = add_table(world, NULL, NULL);
	struct table *behind = add_table(world, metatable, "__index");
	struct table *redis = add_table(world, behind, "redis");

	world->globals->metatable = (uintptr_t)metatable;
	/* A circle. */
	behind->metatable = (uintptr_t)metatable;
	add_light(world, redis, "call", 0x1000);
	add_light(world, redis, "pcall", 0x1001);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "redis.call");
	assert_string_equal(name_of(world, 0x1001), "redis.pcall");
}

static void prefers_loaded_then_short_then_alphabetical_names(void **state)
{
	struct world *world = *state;
	struct table *module = add_table(world, world->loaded, "module");

	add_light(world, add_table(world, world->registry, "M"), "f", 0x1000);
	add_light(world, world->globals, "a", 0x1000);
	add_light(world, module, "long_name", 0x1000);
	add_light(world, add_table(world, world->registry, "M2"), "f", 0x1001);
	add_light(world, world->globals, "long_name", 0x1001);
	add_light(world, module, "b_name", 0x1002);
	add_light(world, module, "a_longer_name", 0x1002);
	add_light(world, module, "a_name", 0x1002);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "module.long_name");
	assert_string_equal(name_of(world, 0x1001), "long_name");
	assert_string_equal(name_of(world, 0x1002), "module.a_name");
}

static void keeps_a_name_once_given(void **state)
{
	struct world *world = *state;

	add_light(world, world->globals, "first_name", 0x1000);
	assert_int_equal(read_world(world), 0);
	add_light(world, world->loaded, "a", 0x1000);
	add_light(world, world->loaded, "b", 0x1001);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "first_name");
	assert_string_equal(name_of(world, 0x1001), "b");
}

static void gives_a_trampoline_no_name(void **state)
{
	struct world *world = *state;
	struct table *one = add_table(world, world->loaded, "one");
	struct table *two = add_table(world, world->loaded, "two");

	add_closure(world, one, "get", 0x1000, 1);
	add_closure(world, one, "set", 0x1000, 1);
	add_closure(world, one, "same", 0x1001, 1);
	add_closure(world, two, "same", 0x1001, 1);
	add_closure(world, one, "plain", 0x1002, 0);
	add_closure(world, two, "alias", 0x1002, 0);
	assert_int_equal(read_world(world), 0);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "(none)");
	assert_string_equal(name_of(world, 0x1001), "one.same");
	assert_string_equal(name_of(world, 0x1002), "one.plain");
}

static void cuts_long_names_and_refuses_those_with_a_nul(void **state)
{
	struct world *world = *state;
	struct table *module = add_table(world, world->loaded, "module");
	char key[251];

	memset(key, 'x', 250);
	key[250] = '\0';
	add_light(world, module, key, 0x1000);
	key[60] = '\0';
	add_light(world, module, key, 0x1001);
	add_bytes(world, module, "a\0b", 3, TAG_LIGHT, 0x1002);
	add_bytes(world, module, "", 0, TAG_LIGHT, 0x1003);
	assert_int_equal(read_world(world), 0);
	assert_int_equal(strlen(name_of(world, 0x1000)), 127);
	assert_int_equal(strncmp(name_of(world, 0x1000), "module.xxx", 10), 0);
	assert_int_equal(strlen(name_of(world, 0x1001)), 67);
	assert_string_equal(name_of(world, 0x1002), "(none)");
	assert_string_equal(name_of(world, 0x1003), "(none)");
}

static void leaves_out_large_tables_not_small_ones(void **state)
{
	struct world *world = *state;

	/* In the order of the table, these would leave room for two more. */
	for (uint8_t log_slots = 15; log_slots > 5; log_slots--) {
		char key[2] = {(char)('a' + log_slots), '\0'};
		struct table *large = add_table(world, world->loaded, key);

		large->log_slots = log_slots;
		large->node = 0x10;
	}
	add_light(world, add_table(world, world->loaded, "one"), "f", 0x1001);
	add_light(world, add_table(world, world->loaded, "two"), "f", 0x1002);
	add_light(world, add_table(world, world->loaded, "three"), "f", 0x1003);
	assert_int_equal(read_world(world), -E2BIG);
	assert_string_equal(name_of(world, 0x1001), "one.f");
	assert_string_equal(name_of(world, 0x1002), "two.f");
	assert_string_equal(name_of(world, 0x1003), "three.f");
}

static void reads_globals_beside_an_enormous_registry(void **state)
{
	struct world *world = *state;

	add_light(world, world->globals, "f", 0x1000);
	world->registry->log_slots = 26;
	assert_int_equal(read_world(world), -E2BIG);
	assert_string_equal(name_of(world, 0x1000), "f");
}

/* Such a table fits once into what a call may look at, not twice. */
static struct node *enlarge(struct table *table)
{
	struct node *nodes = calloc(1 << 15, sizeof(*nodes));

	assert_non_null(nodes);
	memcpy(nodes, table->nodes, sizeof(table->nodes));
	table->node = (uintptr_t)nodes;
	table->log_slots = 15;
	return nodes;
}

static void reads_a_table_once_that_holds_itself(void **state)
{
	struct world *world = *state;
	struct table *own = add_table(world, world->registry, "OWN");
	struct node *nodes;

	add(world, own, "__index", TAG_TABLE, (uintptr_t)own);
	add(world, world->globals, "_G", TAG_TABLE, (uintptr_t)world->globals);
	nodes = enlarge(own);
	assert_int_equal(read_world(world), 0);
	own->log_slots = 0;
	free(nodes);
	nodes = enlarge(world->globals);
	assert_int_equal(read_world(world), 0);
	free(nodes);
}

static void ends_where_tables_hold_each_other(void **state)
{
	struct world *world = *state;
	struct table *module = add_table(world, world->loaded, "module");

	add(world, module, "loaded", TAG_TABLE, (uintptr_t)world->loaded);
	add(world, world->registry, "registry", TAG_TABLE, (uintptr_t)world->registry);
	add_light(world, module, "f", 0x1000);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "module.f");
}

static void goes_on_past_what_cannot_be_read(void **state)
{
	struct world *world = *state;
	struct table *broken = add_table(world, world->loaded, "broken");
	struct table *no_table = add_table(world, world->loaded, "no table");

	broken->node = 0x10;
	add_table(world, world->loaded, "too large")->log_slots = 255;
	no_table->tt = 6;
	add_light(world, no_table, "f", 0x1001);
	add(world, world->loaded, "nowhere", TAG_TABLE, 0x10);
	add(world, world->loaded, "closure", TAG_C_CLOSURE, 0x10);
	world->registry->array = 0x10;
	add_light(world, add_table(world, world->registry, "meta"), "f", 0x1000);
	assert_int_equal(read_world(world), 0);
	assert_string_equal(name_of(world, 0x1000), "meta:f");
	assert_string_equal(name_of(world, 0x1001), "(none)");
}

static void says_that_the_registry_cannot_be_read(void **state)
{
	struct world *world = *state;
	struct target_memory own = own_memory();
	struct ls_puc_layout unknown = *layout_of(4);

	assert_int_equal(
		c_functions__read(world->functions, &table_ops_puc, &own, layout_of(4), 0x10),
		-EFAULT);
	unknown.minor = 6;
	assert_int_equal(c_functions__read(world->functions, &table_ops_puc, &own, &unknown,
					   (uintptr_t)world->state),
			 -ENOTSUP);
	memset(world->global, 0, sizeof(world->global));
	assert_int_equal(read_world(world), -EFAULT);
	assert_string_equal(name_of(world, 0x1000), "(none)");
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
		read_world(world);
		if (i % 10)
			bytes[at] = honest;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(names_functions_two_levels_deep),
		TEST(names_methods_and_metamethods),
		TEST(names_no_type_for_what_several_types_share),
		TEST(takes_tables_of_c_functions_alone_for_libraries),
		TEST(names_script_functions_by_their_prototypes),
		TEST(looks_behind_the_globals_of_a_sandbox),
		TEST(prefers_loaded_then_short_then_alphabetical_names),
		TEST(keeps_a_name_once_given),
		TEST(gives_a_trampoline_no_name),
		TEST(cuts_long_names_and_refuses_those_with_a_nul),
		TEST(leaves_out_large_tables_not_small_ones),
		TEST(reads_globals_beside_an_enormous_registry),
		TEST(reads_a_table_once_that_holds_itself),
		TEST(ends_where_tables_hold_each_other),
		TEST(goes_on_past_what_cannot_be_read),
		TEST(says_that_the_registry_cannot_be_read),
		TEST(survives_random_bytes),
#undef TEST
	};

	return cmocka_run_group_tests_name("c_functions_puc", tests, NULL, NULL);
}
