/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "puc/layout_puc.h"
#include "world.h"

struct target_memory world__memory(void)
{
	return (struct target_memory){.pid = getpid()};
}

const struct ls_puc_layout *world__layout(void)
{
	const struct ls_puc_layout *layout = NULL;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor == 4)
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

void world__add_bytes(struct world *world, struct table *table, const char *key, size_t length,
		      uint8_t tag, uint64_t value)
{
	struct node *node = &table->nodes[table->used++];

	assert_true(table->used <= NODES);
	node->value = value;
	node->tag = tag;
	node->key_tag = length <= 40 ? TAG_SHORT_STRING : TAG_LONG_STRING;
	node->key = (uintptr_t)add_string(world, key, length);
}

void world__add(struct world *world, struct table *table, const char *key, uint8_t tag,
		uint64_t value)
{
	world__add_bytes(world, table, key, strlen(key), tag, value);
}

void world__add_light(struct world *world, struct table *table, const char *key, uint64_t function)
{
	world__add(world, table, key, TAG_LIGHT, function);
}

void world__add_closure(struct world *world, struct table *table, const char *key,
			uint64_t function, int upvalues)
{
	struct closure *closure = &world->closures[world->closure_count++];

	closure->tt = 38;
	closure->upvalue_count = (uint8_t)upvalues;
	closure->function = function;
	world__add(world, table, key, TAG_C_CLOSURE, (uintptr_t)closure);
}

struct table *world__add_table(struct world *world, struct table *table, const char *key)
{
	struct table *added = &world->tables[world->table_count++];

	added->tt = 5;
	added->log_slots = 4;
	added->node = (uintptr_t)added->nodes;
	if (table)
		world__add(world, table, key, TAG_TABLE, (uintptr_t)added);
	return added;
}

int world__set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct ls_puc_layout *layout = world__layout();
	struct value registry = {.tag = TAG_TABLE};
	uint64_t global = (uintptr_t)world->global;

	world->registry = world__add_table(world, NULL, NULL);
	world->loaded = world__add_table(world, world->registry, "_LOADED");
	world->globals = world__add_table(world, NULL, NULL);
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

int world__tear_down(void **state)
{
	struct world *world = *state;

	c_function_names__free(world->functions);
	free(world);
	return 0;
}

int world__read(struct world *world)
{
	struct target_memory own = world__memory();

	return c_functions__read(world->functions, &table_ops_puc, &own, world__layout(),
				 (uintptr_t)world->state);
}

const char *world__name(struct world *world, uint64_t function)
{
	const char *name = c_function_names__get(world->functions, function);

	return name ? name : "(none)";
}
