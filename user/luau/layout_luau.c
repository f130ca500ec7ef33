/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/layout_luau.h"

#include <errno.h>
#include <string.h>

#include "target.h"

/* The same in all releases seen. */
#define TYPES .string_type = 4, .function_type = 2

/*
 * Proto of VMs that can run native code: its lines are at `lines`, after execdata and exectarget,
 * and its sizes at `sizes`. The members between them have kept their order.
 */
#define PROTO_WITH_NATIVE_CODE(lines, sizes)                                                       \
	.proto_constants = 8, .proto_code = 16, .proto_children = 24, .proto_size = (sizes) + 32,  \
	.proto_line_info = (lines), .proto_line_bases = (lines) + 8, .proto_source = (lines) + 32, \
	.proto_name = (lines) + 40, .proto_code_count = (sizes), .proto_child_count = (sizes) + 4, \
	.proto_constant_count = (sizes) + 16, .proto_line_info_size = (sizes) + 20,                \
	.proto_line_gap = (sizes) + 24, .proto_line_defined = (sizes) + 28, .proto_upvalues = 3,   \
	.proto_parameters = 4, .proto_is_vararg = 5, .proto_native = (lines)-8

/* Proto of older VMs: it ends with the numbers of upvalues and parameters, at `numbers`. */
#define PROTO_WITHOUT_NATIVE_CODE(sizes, numbers)                                                  \
	.proto_constants = 8, .proto_code = 16, .proto_children = 24, .proto_size = (numbers) + 4, \
	.proto_line_info = 32, .proto_line_bases = 40, .proto_source = 64, .proto_name = 72,       \
	.proto_code_count = (sizes), .proto_child_count = (sizes) + 4,                             \
	.proto_constant_count = (sizes) + 16, .proto_line_info_size = (sizes) + 20,                \
	.proto_line_gap = (sizes) + 24, .proto_line_defined = (sizes) + 28,                        \
	.proto_upvalues = (numbers), .proto_parameters = (numbers) + 1,                            \
	.proto_is_vararg = (numbers) + 2

#define WITH_NATIVE_CODE(lines, sizes)                                                             \
	{                                                                                          \
		.name = "luau-lines" #lines "-sizes" #sizes, .offsets = {                          \
			TYPES,                                                                     \
			.closure_function = 24,                                                    \
			PROTO_WITH_NATIVE_CODE(lines, sizes)                                       \
		}                                                                                  \
	}

#define WITHOUT_NATIVE_CODE(sizes, numbers)                                                        \
	{                                                                                          \
		.name = "luau-sizes" #sizes "-numbers" #numbers, .offsets = {                      \
			TYPES,                                                                     \
			.closure_function = 24,                                                    \
			PROTO_WITHOUT_NATIVE_CODE(sizes, numbers)                                  \
		}                                                                                  \
	}

/*
 * Releases add and remove fields of Proto before its lines and before its sizes. These are the
 * layouts of all releases since 516 (February 2022) and three that may come next; others are
 * derived.
 */
const struct layout_luau layouts_luau[] = {
	WITH_NATIVE_CODE(56, 136), /* mid-2023 to mid-2026 */
	WITH_NATIVE_CODE(64, 144), /* since then */
	{
		/* Closure.usage came before gclist for a while, in 2026 */
		.name = "luau-usage",
		.offsets = {TYPES, .closure_function = 32, PROTO_WITH_NATIVE_CODE(56, 136)},
	},
	WITHOUT_NATIVE_CODE(96, 128),  /* 2022 */
	WITHOUT_NATIVE_CODE(96, 132),  /* end of 2022, */
	WITHOUT_NATIVE_CODE(112, 148), /* and then a few weeks each */
	WITHOUT_NATIVE_CODE(120, 156),
	WITHOUT_NATIVE_CODE(128, 164),
	WITH_NATIVE_CODE(56, 128),
	WITH_NATIVE_CODE(64, 152),
	WITH_NATIVE_CODE(72, 152),
	WITH_NATIVE_CODE(72, 160),
};

#define SEEN (sizeof(layouts_luau) / sizeof(layouts_luau[0]))

const size_t layouts_luau_count = SEEN;

#define CALIBRATED_MAX (LS_LAYOUT_MAX - SEEN)

_Static_assert(SEEN < LS_LAYOUT_MAX, "there is room for calibrated layouts");

static struct layout_luau calibrated[CALIBRATED_MAX];
static size_t calibrated_count;

const struct layout_luau *layout_luau__get(uint32_t slot)
{
	if (slot < SEEN)
		return &layouts_luau[slot];
	return slot - SEEN < calibrated_count ? &calibrated[slot - SEEN] : NULL;
}

uint16_t layout_luau__all(void)
{
	return (uint16_t)((1U << (SEEN + calibrated_count)) - 1);
}

int layout_luau__find(const char *name)
{
	const struct layout_luau *layout;

	for (uint32_t slot = 0; (layout = layout_luau__get(slot)); slot++)
		if (!strcmp(layout->name, name))
			return (int)slot;
	return -ENOENT;
}

int layout_luau__add(const struct ls_luau_layout *offsets)
{
	static const char *const names[] = {"luau-calibrated", "luau-calibrated-2",
					    "luau-calibrated-3", "luau-calibrated-4"};
	const struct layout_luau *layout;
	uint32_t slot = 0;

	for (; (layout = layout_luau__get(slot)); slot++)
		if (!memcmp(&layout->offsets, offsets, sizeof(*offsets)))
			return (int)slot;
	_Static_assert(sizeof(names) / sizeof(names[0]) == CALIBRATED_MAX, "each has a name");
	if (calibrated_count == CALIBRATED_MAX)
		return -ENOSPC;
	calibrated[calibrated_count] =
		(struct layout_luau){.name = names[calibrated_count], .offsets = *offsets};
	calibrated_count++;
	return (int)slot;
}
