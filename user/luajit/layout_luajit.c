/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit/layout_luajit.h"

#include <errno.h>
#include <string.h>

/* Where the VM's C frame links to the previous one, lj_frame.h. */
#ifdef __aarch64__
#define PREVIOUS(x86) .cframe_previous = 0
#else
#define PREVIOUS(x86) .cframe_previous = (x86)
#endif

/* Offsets of the array of traces on x86-64, `nearer` on AArch64, where jit_State is smaller. */
#ifdef __aarch64__
#define TRACES(first, second, third, nearer)                                                       \
	.global_traces = {(first) - (nearer), (second) - (nearer), (third) - (nearer)}
#else
#define TRACES(first, second, third, nearer) .global_traces = {first, second, third}
#endif

/* Offsets that no release has changed. */
#define UPSTREAM                                                                                   \
	.global_vm_state = 184, .global_main_thread = 192, .global_registry = 272,                 \
	.global_objects = 40, .string_text = 24, .string_length = 20, PREVIOUS(32),                \
	.op_iterc = LS_LUAJIT_OP_ITERC

/*
 * Tarantool's fork has more members before these, and on x86-64 two more words in the VM's C frame.
 */
#define TARANTOOL                                                                                  \
	.global_objects = 104, .string_text = 24, .string_length = 16, PREVIOUS(48),               \
	.op_iterc = LS_LUAJIT_OP_ITERC, .more_states = 2

/*
 * In 2023, vmthref was inserted into global_State between registrytv and uvhead, which moved all
 * members after it. The offset of the array of traces also depends on the size of jit_State, and on
 * how many roots the collector has (enum GCRootID), which are fewer without FFI; a walk looks at
 * each of the three.
 */
const struct layout_luajit layouts_luajit[] = {
	{
		.name = "2.1-rolling",
		.offsets = {.global_current = 376,
			    .global_jit_base = 384,
			    TRACES(1128, 1120, 1104, 8),
			    UPSTREAM},
	},
	{
		/* Debian's git20220320, and OpenResty's releases up to v2.1-20240314 */
		.name = "2.1-beta3",
		.offsets = {.global_current = 368,
			    .global_jit_base = 376,
			    TRACES(1112, 1120, 1104, 24),
			    UPSTREAM},
	},
#ifndef __aarch64__ /* where the VM's C frames had another layout then */
	{
		/* Before the middle of 2020, when GCstr had no id; OpenResty's of that time */
		.name = "2.1-2017",
		.offsets = {.global_current = 344,
			    .global_jit_base = 352,
			    .global_traces = {1064, 1072, 1056},
			    .global_vm_state = 128,
			    .global_main_thread = 200,
			    .global_registry = 208,
			    .global_objects = 56,
			    .string_text = 24,
			    .string_length = 16,
			    PREVIOUS(32),
			    .lacks_places = 1,
			    .op_iterc = LS_LUAJIT_OP_ITERC},
	},
#endif
	{
		/* Tarantool's fork, since 2.10 */
		.name = "2.1-tarantool",
		.offsets = {.global_current = 480,
			    .global_jit_base = 496,
			    TRACES(1232, 1224, 1240, 32),
			    .global_vm_state = 440,
			    .global_main_thread = 336,
			    .global_registry = 344,
			    TARANTOOL},
	},
	{
		/* Tarantool's fork, 2.7 and 2.8 */
		.name = "2.1-tarantool-2.7",
		.offsets = {.global_current = 472,
			    .global_jit_base = 488,
			    TRACES(1200, 1192, 1208, 32),
			    .global_vm_state = 432,
			    .global_main_thread = 328,
			    .global_registry = 336,
			    TARANTOOL},
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
