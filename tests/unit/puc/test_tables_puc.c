/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hand-made tables in the layout of 5.4 that are large, hold themselves, or cannot be read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "puc/layout_puc.h"
#include "world.h"

static void leaves_out_large_tables_not_small_ones(void **state)
{
	struct world *world = *state;

	/* In the order of the table, these would leave room for two more. */
	for (uint8_t log_slots = 15; log_slots > 5; log_slots--) {
		char key[2] = {(char)('a' + log_slots), '\0'};
		struct table *large = world__add_table(world, world->loaded, key);

		large->log_slots = log_slots;
		large->node = 0x10;
	}
	world__add_light(world, world__add_table(world, world->loaded, "one"), "f", 0x1001);
	world__add_light(world, world__add_table(world, world->loaded, "two"), "f", 0x1002);
	world__add_light(world, world__add_table(world, world->loaded, "three"), "f", 0x1003);
	assert_int_equal(world__read(world), -E2BIG);
	assert_string_equal(world__name(world, 0x1001), "one.f");
	assert_string_equal(world__name(world, 0x1002), "two.f");
	assert_string_equal(world__name(world, 0x1003), "three.f");
}

static void reads_globals_beside_an_enormous_registry(void **state)
{
	struct world *world = *state;

	world__add_light(world, world->globals, "f", 0x1000);
	world->registry->log_slots = 26;
	assert_int_equal(world__read(world), -E2BIG);
	assert_string_equal(world__name(world, 0x1000), "f");
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
	struct table *own = world__add_table(world, world->registry, "OWN");
	struct node *nodes;

	world__add(world, own, "__index", TAG_TABLE, (uintptr_t)own);
	world__add(world, world->globals, "_G", TAG_TABLE, (uintptr_t)world->globals);
	nodes = enlarge(own);
	assert_int_equal(world__read(world), 0);
	own->log_slots = 0;
	free(nodes);
	nodes = enlarge(world->globals);
	assert_int_equal(world__read(world), 0);
	free(nodes);
}

static void ends_where_tables_hold_each_other(void **state)
{
	struct world *world = *state;
	struct table *module = world__add_table(world, world->loaded, "module");

	world__add(world, module, "loaded", TAG_TABLE, (uintptr_t)world->loaded);
	world__add(world, world->registry, "registry", TAG_TABLE, (uintptr_t)world->registry);
	world__add_light(world, module, "f", 0x1000);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "module.f");
}

static void goes_on_past_what_cannot_be_read(void **state)
{
	struct world *world = *state;
	struct table *broken = world__add_table(world, world->loaded, "broken");
	struct table *no_table = world__add_table(world, world->loaded, "no table");

	broken->node = 0x10;
	world__add_table(world, world->loaded, "too large")->log_slots = 255;
	no_table->tt = 6;
	world__add_light(world, no_table, "f", 0x1001);
	world__add(world, world->loaded, "nowhere", TAG_TABLE, 0x10);
	world__add(world, world->loaded, "closure", TAG_C_CLOSURE, 0x10);
	world->registry->array = 0x10;
	world__add_light(world, world__add_table(world, world->registry, "meta"), "f", 0x1000);
	assert_int_equal(world__read(world), 0);
	assert_string_equal(world__name(world, 0x1000), "meta:f");
	assert_string_equal(world__name(world, 0x1001), "(none)");
}

static void says_that_the_registry_cannot_be_read(void **state)
{
	struct world *world = *state;
	struct target_memory own = world__memory();
	struct ls_puc_layout unknown = *world__layout();

	assert_int_equal(
		c_functions__read(world->functions, &table_ops_puc, &own, world__layout(), 0x10),
		-EFAULT);
	unknown.minor = 6;
	assert_int_equal(c_functions__read(world->functions, &table_ops_puc, &own, &unknown,
					   (uintptr_t)world->state),
			 -ENOTSUP);
	memset(world->global, 0, sizeof(world->global));
	assert_int_equal(world__read(world), -EFAULT);
	assert_string_equal(world__name(world, 0x1000), "(none)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(leaves_out_large_tables_not_small_ones),
		with_world(reads_globals_beside_an_enormous_registry),
		with_world(reads_a_table_once_that_holds_itself),
		with_world(ends_where_tables_hold_each_other),
		with_world(goes_on_past_what_cannot_be_read),
		with_world(says_that_the_registry_cannot_be_read),
	};

	return cmocka_run_group_tests_name("tables_puc", tests, NULL, NULL);
}
