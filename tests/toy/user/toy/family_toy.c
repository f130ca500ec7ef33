/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The row of the toy in the table of families. */
#include <errno.h>
#include <string.h>

#include "interpreter/family.h"
#include "interpreter/lua_files.h"
#include "offsets_toy.h"
#include "walk_toy.skel.h"
#include "walk_toy_old.skel.h"

static const struct markers markers[] = {
	{.release = "1", .strings = {"toy: no instruction '%c'", "toy: too many calls"}},
};

static const struct ls_toy_layout layout = {
	.state_anchor = offsetof(struct ls_toy_state, anchor),
	.state_call = offsetof(struct ls_toy_state, call),
};

static int recognise(const struct elf_file *elf, const struct markers *found, struct lua_file *file)
{
	(void)elf;
	snprintf(file->release, sizeof(file->release), "%s", found->release);
	file->layouts = 1;
	return 0;
}

static const void *offsets(uint32_t slot)
{
	return slot ? NULL : &layout;
}

static const char *layout_name(uint32_t slot)
{
	return slot ? NULL : "toy-1";
}

static int find_layout(const char *name)
{
	return strcmp(name, "toy-1") ? -ENOENT : 0;
}

static uint16_t distinct_layouts(void)
{
	return 1;
}

static bool keeps_pc_in_register(uint32_t slot)
{
	(void)slot;
	return false;
}

static const void *walker_file(bool is_old, size_t *size)
{
	return is_old ? walk_toy_old_bpf__elf_bytes(size) : walk_toy_bpf__elf_bytes(size);
}

extern const struct family family_toy;

const struct family family_toy = {
	.name = "Toy",
	.id = LS_FAMILY_TOY,
	.sign = "toy: too many calls",
	.markers = markers,
	.marker_count = 1,
	.recognise = recognise,
	.offsets_size = sizeof(layout),
	.offsets = offsets,
	.layout_name = layout_name,
	.find_layout = find_layout,
	.distinct_layouts = distinct_layouts,
	.keeps_pc_in_register = keeps_pc_in_register,
	.walker_file = walker_file,
	.walker_program = "walk_toy",
	.layouts_map = "layouts_toy",
};
