/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/layout_luau.h"

#include <errno.h>
#include <string.h>

/* Proto of VMs that can run native code: execdata and exectarget are before lineinfo. */
#define PROTO_WITH_NATIVE_CODE                                                                     \
	.proto_size = 172, .proto_line_info = 56, .proto_line_bases = 64, .proto_source = 88,      \
	.proto_name = 96, .proto_code_count = 136, .proto_child_count = 140,                       \
	.proto_constant_count = 152, .proto_line_info_size = 156, .proto_line_gap = 160,           \
	.proto_line_defined = 164, .proto_upvalues = 3, .proto_parameters = 4,                     \
	.proto_is_vararg = 5

const struct layout_luau layouts_luau[] = {
	{
		.name = "luau-native",
		.offsets = {.closure_function = 24, PROTO_WITH_NATIVE_CODE},
	},
	{
		/* Closure.usage came before gclist for a while, in 2026 */
		.name = "luau-native-usage",
		.offsets = {.closure_function = 32, PROTO_WITH_NATIVE_CODE},
	},
	{
		/* up to 2023 */
		.name = "luau-plain",
		.offsets = {.closure_function = 24,
			    .proto_size = 152,
			    .proto_line_info = 32,
			    .proto_line_bases = 40,
			    .proto_source = 64,
			    .proto_name = 72,
			    .proto_code_count = 112,
			    .proto_child_count = 116,
			    .proto_constant_count = 128,
			    .proto_line_info_size = 132,
			    .proto_line_gap = 136,
			    .proto_line_defined = 140,
			    .proto_upvalues = 148,
			    .proto_parameters = 149,
			    .proto_is_vararg = 150},
	},
};

const size_t layouts_luau_count = sizeof(layouts_luau) / sizeof(layouts_luau[0]);

int layout_luau__find(const char *name)
{
	for (size_t i = 0; i < layouts_luau_count; i++)
		if (!strcmp(layouts_luau[i].name, name))
			return (int)i;
	return -ENOENT;
}
