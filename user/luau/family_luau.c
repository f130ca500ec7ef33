/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Luau's row of families[]. */
#include "elf/elf_file.h"
#include "interpreter/family.h"
#include "interpreter/lua_files.h"
#include "luau/calibration_luau.h"
#include "luau/call_site_luau.h"
#include "luau/gc_luau.h"
#include "luau/layout_luau.h"
#include "luau/prototype_luau.h"
#include "luau/walker_luau.h"

#include "walk_luau.skel.h"
#include "walk_luau_old.skel.h"

/* ---- files */

static const struct markers markers[] = {
	{.strings = {"__namecall", "missing argument #%d to '%s' (%s expected)",
		     "attempt to compare %s %s %s", "table index contains NaN"}},
};

/* A file shows neither its release nor its layout; samples select the layout. */
static int recognise(const struct elf_file *elf, const struct markers *found, struct lua_file *file)
{
	(void)found;
	file->layouts = layout_luau__all();
	return gc_luau__find(elf, &file->gc);
}

/* ---- layouts */

static const void *offsets(uint32_t slot)
{
	const struct layout_luau *layout = layout_luau__get(slot);

	return layout ? &layout->offsets : NULL;
}

static const char *layout_name(uint32_t slot)
{
	const struct layout_luau *layout = layout_luau__get(slot);

	return layout ? layout->name : NULL;
}

static uint16_t distinct_layouts(void)
{
	return layout_luau__all();
}

static int calibrate(const struct target_memory *memory, uint64_t state, void *offsets,
		     char *reason, size_t reason_size)
{
	return calibration_luau__run(memory, state, offsets, reason, reason_size);
}

static int add_layout(const void *offsets)
{
	return layout_luau__add(offsets);
}

static bool keeps_pc_in_register(uint32_t slot)
{
	(void)slot;
	return true;
}

/* ---- processes */

static int read_call_site(const struct target_memory *memory, const void *offsets, uint64_t caller,
			  uint32_t pc, struct call_site *site)
{
	return call_site_luau__read(memory, offsets, caller, pc, site);
}

static int check_prototype(const struct target_memory *memory, const void *offsets,
			   const struct prototype_key *key)
{
	return prototype_luau__check(memory, offsets, key);
}

static int read_lines(const struct target_memory *memory, const void *offsets, uint64_t prototype,
		      struct line_table **table)
{
	return prototype_luau__lines(memory, offsets, prototype, table);
}

static int read_source(const struct target_memory *memory, const void *offsets, uint64_t prototype,
		       size_t most, char **text, size_t *length)
{
	return prototype_luau__source(memory, offsets, prototype, most, text, length);
}

static const struct memory_ops memory = {
	.check_prototype = check_prototype,
	.read_source = read_source,
	.read_lines = read_lines,
	.read_call_site = read_call_site,
};

/* ---- the family */

extern const struct family family_luau;

static const void *walker_file(bool is_old, size_t *size)
{
	return is_old ? walk_luau_old_bpf__elf_bytes(size) : walk_luau_bpf__elf_bytes(size);
}

const struct family family_luau = {
	.name = "Luau",
	.id = LS_FAMILY_LUAU,
	.sign = "__newindex",
	.markers = markers,
	.marker_count = sizeof(markers) / sizeof(markers[0]),
	.recognise = recognise,
	.offsets_size = sizeof(struct ls_luau_layout),
	.offsets = offsets,
	.layout_name = layout_name,
	.find_layout = layout_luau__find,
	.distinct_layouts = distinct_layouts,
	.keeps_pc_in_register = keeps_pc_in_register,
	.calibrate = calibrate,
	.add_layout = add_layout,
	.walker_file = walker_file,
	.walker_program = "walk_luau",
	.layouts_map = "layouts_luau",
	.memory = &memory,
	.walker = &walker_ops_luau,
};
_Static_assert(sizeof(struct ls_luau_layout) <= LAYOUT_OFFSETS_MAX, "it crosses to the worker");
