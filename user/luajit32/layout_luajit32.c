/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit32/narrow.h"

#include <errno.h>
#include <string.h>

#include "luajit/layout_luajit.h"

/* Of global_State and GCstr as they are since 2020; the places differ as in layout_luajit.c. */
#define SINCE_2020                                                                                 \
	.global_vm_state = 136, .global_main_thread = 140, .global_registry = 216,                 \
	.global_objects = 32, .string_text = 20, .string_length = 16, .cframe_previous = 32,       \
	.op_iterc = LS_LUAJIT_OP_ITERC

/* As in layout_luajit.c. */
#define LATER_TARANTOOL                                                                            \
	.global_objects = 96, .string_text = 16, .string_length = 12, .cframe_previous = 48,       \
	.op_iterc = LS_LUAJIT_OP_ITERC, .more_states = 2

const struct layout_luajit layouts_luajit[] = {
	{
		.name = "2.1-rolling-32",
		.offsets = {.global_current = 296,
			    .global_jit_base = 300,
			    .global_traces = {864, 856, 848},
			    SINCE_2020},
	},
	{
		.name = "2.1-beta3-32",
		.offsets = {.global_current = 288,
			    .global_jit_base = 292,
			    .global_traces = {856, 848, 864},
			    SINCE_2020},
	},
	{
		/* TeX Live's */
		.name = "2.1-2017-32",
		.offsets = {.global_current = 248,
			    .global_jit_base = 252,
			    .global_traces = {784, 776, 792},
			    .global_vm_state = 88,
			    .global_main_thread = 128,
			    .global_registry = 136,
			    .global_objects = 48,
			    .string_text = 16,
			    .string_length = 12,
			    .cframe_previous = 32,
			    .lacks_places = 1,
			    .op_iterc = LS_LUAJIT_OP_ITERC},
	},
	{
		/* Tarantool 2.6's, which counts hits of the table of strings before all that */
		.name = "2.1-tarantool-32",
		.offsets = {.global_current = 280,
			    .global_jit_base = 284,
			    .global_traces = {816, 808, 824},
			    .global_vm_state = 120,
			    .global_main_thread = 160,
			    .global_registry = 168,
			    .global_objects = 80,
			    .string_text = 16,
			    .string_length = 12,
			    .cframe_previous = 32,
			    .lacks_places = 1,
			    .op_iterc = LS_LUAJIT_OP_ITERC},
	},
	{
		/* Tarantool's fork, since 2.10 */
		.name = "2.1-tarantool-2.10-32",
		.offsets = {.global_current = 392,
			    .global_jit_base = 400,
			    .global_traces = {952, 944, 960},
			    .global_vm_state = 352,
			    .global_main_thread = 272,
			    .global_registry = 280,
			    LATER_TARANTOOL},
	},
	{
		/* of 2.7 and 2.8 */
		.name = "2.1-tarantool-2.7-32",
		.offsets = {.global_current = 384,
			    .global_jit_base = 392,
			    .global_traces = {920, 912, 928},
			    .global_vm_state = 344,
			    .global_main_thread = 264,
			    .global_registry = 272,
			    LATER_TARANTOOL},
	},
	{
		/*
		 * 2.0.0 to 2.0.5, and the branch since. The branch's snapshots have places, but
		 * nothing tells it from 2.0.5.
		 */
		.name = "2.0",
		.offsets = {.global_current = 244,
			    .global_jit_base = 248,
			    .global_traces = {712, 704, 720},
			    .global_vm_state = 232,
			    .global_main_thread = 148,
			    .global_registry = 152,
			    .global_objects = 48,
			    .string_text = 16,
			    .string_length = 12,
			    .cframe_previous = 32,
			    .lacks_places = 1,
			    .op_iterc = 65,
			    .has_jit_state = 1},
	},
};

const size_t layouts_luajit_count = sizeof(layouts_luajit) / sizeof(layouts_luajit[0]);

int layout_luajit__find(const char *name)
{
	for (size_t i = 0; i < layouts_luajit_count; i++)
		if (!strcmp(layouts_luajit[i].name, name))
			return (int)i;
	return -ENOENT;
}
