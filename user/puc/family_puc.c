/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PUC Lua 5.1 to 5.5, as the rest of luaspy knows it: a row of families[]. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf/elf_file.h"
#include "interpreter/family.h"
#include "interpreter/lua_files.h"
#include "puc/call_site_puc.h"
#include "puc/definition_puc.h"
#include "puc/family_puc.h"
#include "puc/gc_puc.h"
#include "puc/layout_puc.h"
#include "puc/line_table_puc.h"
#include "puc/prototype_puc.h"

#include "walk_puc.skel.h"
#include "walk_puc_old.skel.h"

/* ---- files */

static const struct markers markers[] = {
	{"5.1",
	 {"=(tail call)", "nesting of [[...]] is deprecated", "%s: %s in precompiled chunk",
	  "bad code"}},
	{"5.2",
	 {"bad conversion number->int; must recompile",
	  "attempt to load a %s chunk (mode is '%s')"}},
	{"5.3",
	 {"endianness mismatch in", "float format mismatch in", "%s size mismatch in",
	  "number has no integer representation"}},
	{"5.4",
	 {"break outside loop at line %d", "integer format mismatch", "invalid option '>'",
	  "attempt to close non-closable variable '%s'"}},
	{"5.5",
	 {"global '%s' already defined", "vararg table has no proper 'n'",
	  "'__call' chain too long", "truncated fixed buffer"}},
};

/* lua_ident (lapi.c): "$Lua: Lua 5.1.5 Copyright" and, from 5.2 on, "$LuaVersion: Lua 5.4.4  ". */
static bool read_ident(const struct elf_file *file, char release[16])
{
	static const char *const prefixes[] = {"$LuaVersion: Lua 5.", "$Lua: Lua 5."};

	for (size_t i = 0; i < 2; i++) {
		size_t room, length;
		const char *text = elf_file__find(file, prefixes[i], &room);

		if (!text)
			continue;
		text += strlen(prefixes[i]) - 2;
		room -= strlen(prefixes[i]) - 2;
		length = 0;
		while (length < room && length < 8 &&
		       (text[length] == '.' || (text[length] >= '0' && text[length] <= '9')))
			length++;
		snprintf(release, 16, "%.*s", (int)length, text);
		return length >= 3;
	}
	return false;
}

/* Layouts of that release; of its minor version if the patch level is unknown or too new. */
static uint16_t layouts_for(const char *release)
{
	uint16_t exact = 0, same_minor = 0;
	int minor = 0, patch = -1;

	if (sscanf(release, "5.%d.%d", &minor, &patch) == 1 && minor == 1)
		patch = 0; /* 5.1.0 calls itself "5.1" */
	for (size_t i = 0; i < layouts_puc_count; i++) {
		const struct layout_puc *layout = &layouts_puc[i];

		if (layout->minor != minor)
			continue;
		if (!layout->only_by_release)
			same_minor |= 1U << i;
		if (patch >= layout->first_patch && patch <= layout->last_patch)
			exact |= 1U << i;
	}
	return exact ? exact : same_minor;
}

static int recognise(const struct elf_file *elf, const struct markers *markers,
		     struct lua_file *file)
{
	int error;

	if (!read_ident(elf, file->release))
		snprintf(file->release, sizeof(file->release), "%s", markers->release);
	file->layouts = layouts_for(file->release);
	error = library_puc__find(elf, &file->library);
	return error ? error : gc_puc__find(elf, file->layouts, &file->gc);
}

/* ---- layouts */

static const void *offsets(uint32_t slot)
{
	return slot < layouts_puc_count ? &layouts_puc[slot].offsets : NULL;
}

static const char *layout_name(uint32_t slot)
{
	return slot < layouts_puc_count ? layouts_puc[slot].name : NULL;
}

static uint16_t distinct_layouts(void)
{
	uint16_t all = 0;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (!layouts_puc[i].only_by_release)
			all |= 1U << i;
	return all;
}

static bool keeps_pc_in_register(uint32_t slot)
{
	return layouts_puc[slot].offsets.has_local_pc;
}

/* ---- processes */

static int check_prototype(const struct target_memory *memory, const void *offsets,
			   const struct prototype_key *key)
{
	return prototype_puc__check(memory, offsets, key);
}

static int read_lines(const struct target_memory *memory, const void *offsets, uint64_t prototype,
		      struct line_table **table)
{
	return line_table_puc__read(memory, offsets, prototype, table);
}

static int read_call_site(const struct target_memory *memory, const void *offsets, uint64_t caller,
			  uint32_t pc, struct call_site *site)
{
	return call_site_puc__read(memory, offsets, caller, pc, site);
}

static int read_source(const struct target_memory *memory, const void *offsets, uint64_t prototype,
		       size_t most, char **text, size_t *length)
{
	return prototype_puc__source(memory, offsets, prototype, most, text, length);
}

static int read_nested(const struct target_memory *memory, const void *offsets, uint64_t parent,
		       struct nested_definitions *found)
{
	return definition_puc__read(memory, offsets, parent, found);
}

static const struct memory_ops memory = {
	.check_prototype = check_prototype,
	.read_source = read_source,
	.read_lines = read_lines,
	.read_call_site = read_call_site,
	.read_nested = read_nested,
	.tables = &table_ops_puc,
};

/*
 * GCTM() of lgc.c marks the CallInfo that a finalizer interrupts (CIST_FIN). Lua 5.3 itself takes
 * it for that of the finalizer, so there debug.getinfo() calls the interrupted function "__gc".
 */
static const char *implicit_call_name(const void *offsets, const struct ls_frame *frames,
				      uint32_t count)
{
	(void)offsets;
	if (frames->flags & (LS_FRAME_TAIL_CALLED | LS_FRAME_STATE_ROOT) || count < 2)
		return NULL;
	if (frames[1].flags & LS_FRAME_HOOKED)
		return "hook";
	return frames[1].flags & LS_FRAME_FINALIZER ? "__gc" : NULL;
}

/* ---- the family */

extern const struct family family_puc;

static const void *walker_file(bool is_old, size_t *size)
{
	return is_old ? walk_puc_old_bpf__elf_bytes(size) : walk_puc_bpf__elf_bytes(size);
}

const struct family family_puc = {
	.name = "Lua",
	.id = LS_FAMILY_PUC,
	.is_common = true,
	.sign = "__newindex",
	.markers = markers,
	.marker_count = sizeof(markers) / sizeof(markers[0]),
	.recognise = recognise,
	.offsets_size = sizeof(struct ls_puc_layout),
	.offsets = offsets,
	.layout_name = layout_name,
	.find_layout = layout_puc__find,
	.distinct_layouts = distinct_layouts,
	.keeps_pc_in_register = keeps_pc_in_register,
	.walker_file = walker_file,
	.walker_program = "walk_puc",
	.layouts_map = "layouts_puc",
	.memory = &memory,
	.implicit_call_name = implicit_call_name,
	.walker = &walker_ops_puc,
};
_Static_assert(sizeof(struct ls_puc_layout) <= LAYOUT_OFFSETS_MAX, "it crosses to the worker");
