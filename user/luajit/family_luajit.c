/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LuaJIT's row of families[]. Compiled for 32-bit references (user/luajit32/), this file makes a
 * second row.
 */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "elf/elf_file.h"
#include "interpreter/family.h"
#include "interpreter/lua_files.h"
#include "luajit/call_site_luajit.h"
#include "luajit/layout_luajit.h"
#include "luajit/prototype_luajit.h"
#include "luajit/table_luajit.h"
#include "luajit/walker_luajit.h"

#ifdef LS_NARROW
#include "walk_luajit32.skel.h"
#include "walk_luajit32_old.skel.h"
#define LS_FAMILY LS_FAMILY_LUAJIT32
#else
#include "walk_luajit.skel.h"
#include "walk_luajit_old.skel.h"
#define LS_FAMILY LS_FAMILY_LUAJIT
#endif

#ifndef LS_NARROW

/* ---- files */

static const struct markers markers[] = {
	{.strings = {"_VMEVENTS", "function too long for return fixup",
		     "cannot load malformed bytecode", "bad action while in __gc metamethod"}},
};

/* How long the version at `text` is, which ends at NUL or a blank; 0: it is none. */
static size_t version_length(const char *text, size_t room)
{
	size_t length = 0;

	while (length < room &&
	       (isalnum((unsigned char)text[length]) || strchr(".-+", text[length])) &&
	       text[length])
		length++;
	return length < room && (!text[length] || text[length] == ' ') ? length : 0;
}

/* The next `needle` in the *room bytes at `text`, and its room; NULL: there is none. */
static const char *find_again(const char *needle, const char *text, size_t *room)
{
	const char *next = memmem(text, *room, needle, strlen(needle));

	*room -= next ? (size_t)(next - text) : 0;
	return next;
}

/*
 * LUAJIT_VERSION (luajit.h): "LuaJIT 2.1.0-beta3" or "LuaJIT 2.1.1788856981". A file may also name
 * a version in other text, such as a sentence of its documentation, which does not count.
 */
static void read_version(const struct elf_file *elf, char release[16])
{
	static const char prefix[] = "LuaJIT 2.", name[] = "LuaJIT ";
	size_t room, length = 0;
	const char *text = elf_file__find(elf, prefix, &room);

	release[0] = '\0';
	while (text && !length) {
		text += sizeof(name) - 1;
		room -= sizeof(name) - 1;
		length = version_length(text, room);
		if (length)
			snprintf(release, 16, "%.*s", (int)length, text);
		else
			text = find_again(prefix, text, &room);
	}
}

/*
 * Only a VM with 64-bit references strips type tags in registers: its calls run cleartp on rbp
 * (vm_x64.dasc).
 */
static const uint8_t clear_type[] = {0x48, 0xc1, 0xe5, 0x11, 0x48, 0xc1, 0xed, 0x11};

/* A VM with 32-bit references returns to C with a frame link in ebx: vm_return, vm_x86.dasc. */
static const uint8_t return_to_c[] = {0x83, 0xe3, 0xf8, 0x29, 0xd3, 0xf7, 0xdb};

#define CHUNK_BYTES 65536

static bool segment_has(const struct elf_file *elf, const struct elf_segment *segment,
			const uint8_t *code, size_t size)
{
	static uint8_t chunk[CHUNK_BYTES];

	for (uint64_t at = 0; at < segment->size; at += sizeof(chunk) - size) {
		ssize_t count = elf_file__read(elf, segment->address + at, chunk, sizeof(chunk));

		if (count <= 0)
			return false;
		if (memmem(chunk, (size_t)count, code, size))
			return true;
	}
	return false;
}

static bool has_code(const struct elf_file *elf, const uint8_t *code, size_t size)
{
	struct elf_segment segment;

	for (size_t i = 0; elf_file__segment(elf, i, &segment); i++)
		if (segment.type == PT_LOAD && segment.flags & PF_X &&
		    segment_has(elf, &segment, code, size))
			return true;
	return false;
}

/*
 * A file shows the size of references but not the layout, which samples select. On AArch64,
 * references always have 64 bits.
 */
static int recognise(const struct elf_file *elf, const struct markers *found, struct lua_file *file)
{
	(void)found;
	read_version(elf, file->release);
	if (elf_file__machine(elf) == EM_AARCH64)
		file->layouts = family__layouts(file->family);
	if (elf_file__machine(elf) == EM_X86_64) {
		bool is_wide = has_code(elf, clear_type, sizeof(clear_type));

		if (!is_wide)
			file->family = families__get(LS_FAMILY_LUAJIT32);
		if (is_wide || has_code(elf, return_to_c, sizeof(return_to_c)))
			file->layouts = family__layouts(file->family);
	}
	file->gc.is_known = true;
	snprintf(file->gc.how, sizeof(file->gc.how), "by the VM's own state");
	return 0;
}

#endif

/* ---- layouts */

static const void *offsets(uint32_t slot)
{
	return slot < layouts_luajit_count ? &layouts_luajit[slot].offsets : NULL;
}

static const char *layout_name(uint32_t slot)
{
	return slot < layouts_luajit_count ? layouts_luajit[slot].name : NULL;
}

static uint16_t distinct_layouts(void)
{
	return (uint16_t)((1U << layouts_luajit_count) - 1);
}

static bool keeps_pc_in_register(uint32_t slot)
{
	(void)slot;
	return true;
}

/* ---- processes */

static int check_prototype(const struct target_memory *memory, const void *offsets,
			   const struct prototype_key *key)
{
	return prototype_luajit__check(memory, offsets, key);
}

static int read_lines(const struct target_memory *memory, const void *offsets, uint64_t prototype,
		      struct line_table **table)
{
	(void)offsets;
	return prototype_luajit__lines(memory, prototype, table);
}

static int read_source(const struct target_memory *memory, const void *offsets, uint64_t prototype,
		       size_t most, char **text, size_t *length)
{
	return prototype_luajit__source(memory, offsets, prototype, most, text, length);
}

static int read_call_site(const struct target_memory *memory, const void *offsets, uint64_t caller,
			  uint32_t pc, struct call_site *site)
{
	return call_site_luajit__read(memory, offsets, caller, pc, site);
}

static const struct memory_ops memory = {
	.check_prototype = check_prototype,
	.read_source = read_source,
	.read_lines = read_lines,
	.read_call_site = read_call_site,
	.tables = &table_ops_luajit,
};

/* ---- the family */

extern const struct family family_luajit;

static const void *walker_file(bool is_old, size_t *size)
{
#ifdef LS_NARROW
	return is_old ? walk_luajit32_old_bpf__elf_bytes(size) : walk_luajit32_bpf__elf_bytes(size);
#else
	return is_old ? walk_luajit_old_bpf__elf_bytes(size) : walk_luajit_bpf__elf_bytes(size);
#endif
}

const struct family family_luajit = {
	.name = "LuaJIT",
#ifdef LS_NARROW
	.variety = "LuaJIT without GC64",
#endif
	.id = LS_FAMILY,
	.sign = "__newindex",
#ifndef LS_NARROW
	.markers = markers,
	.marker_count = sizeof(markers) / sizeof(markers[0]),
	.recognise = recognise,
#endif
	.offsets_size = sizeof(struct ls_luajit_layout),
	.offsets = offsets,
	.layout_name = layout_name,
	.find_layout = layout_luajit__find,
	.distinct_layouts = distinct_layouts,
	.keeps_pc_in_register = keeps_pc_in_register,
	.walker_file = walker_file,
	.walker_program = "walk_luajit",
	.layouts_map = "layouts_luajit",
	.memory = &memory,
	.walker = &walker_ops_luajit,
};
_Static_assert(sizeof(struct ls_luajit_layout) <= LAYOUT_OFFSETS_MAX, "it crosses to the worker");
