/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything that reads names out of a target's memory. An input is a layout of PUC Lua and of
 * Luau, whether memory wraps, a state, a C function, eight prototypes with instructions, and the
 * memory itself.
 */
#include <errno.h>

#include "luau/call_site_luau.h"
#include "luau/layout_luau.h"
#include "memory_of_input.h"
#include "puc/family_puc.h"
#include "symbols/c_functions.h"
#include "puc/call_site_puc.h"
#include "puc/layout_puc.h"
#include "puc/prototype_puc.h"

#define PROTOTYPES 8

/* What one look-up may read: see the limits of proto_puc.c, call_site_puc.c, table_puc.c. */
#define SITE_READS  (1U << 17)
#define SITE_BYTES  (96U << 20)
#define TABLE_READS (12U << 16)
#define TABLE_BYTES (TABLE_READS * 128U)

static const struct target_memory memory = {.pid = -1};

static void expect_error(int error)
{
	require(!error || error == -EFAULT || error == -EINVAL || error == -ENOMEM ||
		error == -E2BIG);
}

static void check_site(const struct call_site *site, int error)
{
	expect_error(error);
	require(strnlen(site->name, sizeof(site->name)) < sizeof(site->name));
	require(site->kind <= CALL_SITE_HOOK);
	if (error || site->kind == CALL_SITE_UNKNOWN)
		require(!*site->name);
}

static void look_up_site_of_luau(const struct ls_luau_layout *layout, uint64_t prototype,
				 uint32_t pc)
{
	struct call_site site;
	size_t reads = memory_of_input__reads(), bytes = memory_of_input__bytes();

	check_site(&site, call_site_luau__read(&memory, layout, prototype, pc, &site));
	require(memory_of_input__reads() - reads < SITE_READS);
	require(memory_of_input__bytes() - bytes < SITE_BYTES);
}

static void look_up_site(const struct ls_puc_layout *layout, uint64_t prototype, uint32_t pc)
{
	struct call_site site;
	uint64_t fingerprint = 0, again = 0;
	size_t reads = memory_of_input__reads(), bytes = memory_of_input__bytes();
	int error = call_site_puc__read(&memory, layout, prototype, pc, &site);

	check_site(&site, error);
	error = prototype_puc__fingerprint(&memory, layout, prototype, &fingerprint);
	expect_error(error);
	/* The memory stands still: so does what is computed from it. */
	require(error == prototype_puc__fingerprint(&memory, layout, prototype, &again));
	require(fingerprint == again);
	require(memory_of_input__reads() - reads < SITE_READS);
	require(memory_of_input__bytes() - bytes < SITE_BYTES);
}

static void look_up_function(const struct c_function_names *functions, uint64_t function)
{
	const char *name = c_function_names__get(functions, function);

	require(!name || (*name && strlen(name) < 128));
}

/* Twice: what is there already stays, and grows no further. */
static void read_tables(const struct ls_puc_layout *layout, uint64_t state, uint64_t function)
{
	struct c_function_names *functions = c_function_names__new();

	require(functions);
	for (int i = 0; i < 2; i++) {
		size_t reads = memory_of_input__reads(), bytes = memory_of_input__bytes();

		expect_error(c_functions__read(functions, &table_ops_puc, &memory, layout, state));
		look_up_function(functions, function);
		require(memory_of_input__reads() - reads < TABLE_READS);
		require(memory_of_input__bytes() - bytes < TABLE_BYTES);
	}
	c_function_names__free(functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = {bytes, size};
	uint8_t slot = (uint8_t)input__take(&input, 1);
	const struct ls_puc_layout *layout = &layouts_puc[slot % layouts_puc_count].offsets;
	bool wraps = input__take(&input, 1) & 1;
	uint64_t state = input__take(&input, 8), function = input__take(&input, 8);
	uint64_t prototypes[PROTOTYPES];
	uint32_t pcs[PROTOTYPES];

	for (size_t i = 0; i < PROTOTYPES; i++) {
		prototypes[i] = input__take(&input, 8);
		pcs[i] = (uint32_t)input__take(&input, 4);
	}
	memory_of_input__set(&input, wraps);
	for (size_t i = 0; i < PROTOTYPES; i++)
		if (prototypes[i]) {
			look_up_site(layout, prototypes[i], pcs[i]);
			look_up_site_of_luau(&layouts_luau[slot % layouts_luau_count].offsets,
					     prototypes[i], pcs[i]);
		}
	read_tables(layout, state, function);
	return 0;
}
