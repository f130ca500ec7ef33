/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Offsets on 64-bit little-endian machines, from DWARF of lstate.h and lobject.h compiled at each
 * tag; x86-64 and aarch64 agree. A new release that moves a field needs one more initializer here.
 * Macros hold what several classes share, so that an initializer shows what changed.
 */
#include "puc/layout_puc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tags_puc.h"

#define TAGS_SINCE_5_2                                                                             \
	.tag_lua_function = LS_TAG_LUA_FUNCTION | LS_COLLECTABLE,                                  \
	.tag_light_function = LS_TAG_LIGHT_FUNCTION,                                               \
	.tag_c_function = LS_TAG_C_FUNCTION | LS_COLLECTABLE

/* CallInfos form a list that starts inside lua_State. */
#define CALL_LIST_SINCE_5_2 .ci_func = 0, .ci_top = 8, .ci_previous = 16, .ci_next = 24

#define CLOSURE_SINCE_5_2 .closure_proto = 24, .closure_function = 24

#define PROTO_5_2                                                                                  \
	.proto_size = 128, .proto_tag = LS_TYPE_PROTO_TO_5_3, .proto_constants = 16,               \
	.proto_code = 24, .proto_line_info = 40, .proto_local_vars = 48, .proto_upvalues = 56,     \
	.proto_source = 72, .proto_nested = 32, .proto_nested_count = 96,                          \
	.proto_upvalue_count = 80, .proto_constant_count = 84, .proto_code_count = 88,             \
	.proto_line_info_count = 92, .proto_local_var_count = 100, .proto_line_defined = 104,      \
	.proto_last_line_defined = 108

#define PROTO_5_3                                                                                  \
	.proto_size = 120, .proto_tag = LS_TYPE_PROTO_TO_5_3, .proto_constants = 48,               \
	.proto_code = 56, .proto_line_info = 72, .proto_local_vars = 80, .proto_upvalues = 88,     \
	.proto_source = 104, .proto_nested = 64, .proto_nested_count = 32,                         \
	.proto_upvalue_count = 16, .proto_constant_count = 20, .proto_code_count = 24,             \
	.proto_line_info_count = 28, .proto_local_var_count = 36, .proto_line_defined = 40,        \
	.proto_last_line_defined = 44

/* Line information has two parts: lineinfo and abslineinfo. */
#define PROTO_SINCE_5_4                                                                            \
	.proto_size = 128, .proto_tag = LS_TYPE_PROTO_SINCE_5_4, .proto_constants = 56,            \
	.proto_code = 64, .proto_line_info = 88, .proto_abs_line_info = 96,                        \
	.proto_local_vars = 104, .proto_upvalues = 80, .proto_source = 112,                        \
	.proto_upvalue_count = 16, .proto_nested = 72, .proto_nested_count = 32,                   \
	.proto_constant_count = 20, .proto_code_count = 24, .proto_line_info_count = 28,           \
	.proto_abs_line_info_count = 40, .proto_local_var_count = 36, .proto_line_defined = 44,    \
	.proto_last_line_defined = 48

#define STRING_TO_5_2 .string_contents = 24, .string_length = 16

/* Short strings keep their length in a byte. */
#define STRING_SINCE_5_3_1 .string_contents = 24, .string_short_length = 11, .string_length = 16

/* lua_State of 5.3; allowhook and status move within it. */
#define STATE_5_3                                                                                  \
	.state_size = 208, .state_top = 16, .state_global = 24, .state_ci = 32,                    \
	.state_stack_last = 48, .state_stack = 56, .state_base_ci = 96, .state_error_jump = 88,    \
	.state_stack_size = 184, .state_stack_spare = 5

/*
 * lopcodes.h: the width of the opcode, OP_CALL, position and width of its operand C. lvm.c: whether
 * luaV_execute keeps `pc` in a local variable.
 */
#define CODE_5_1                                                                                   \
	.op_bits = 6, .op_call = 28, .op_results = 14, .op_results_bits = 9, .has_local_pc = 1
#define CODE_5_2 .op_bits = 6, .op_call = 29, .op_results = 14, .op_results_bits = 9
#define CODE_5_3 .op_bits = 6, .op_call = 36, .op_results = 14, .op_results_bits = 9
#define CODE_SINCE_5_4                                                                             \
	.op_bits = 7, .op_call = 68, .op_results = 24, .op_results_bits = 8, .has_local_pc = 1

#define CALL_5_3                                                                                   \
	.ci_size = 72, CALL_LIST_SINCE_5_2, .ci_base = 32, .ci_has_base = 1, .ci_savedpc = 40,     \
	.ci_status = 66, .ci_results = 64, .ci_results_size = 2, .ci_extra = 56

#define CALL_5_4                                                                                   \
	.ci_size = 64, CALL_LIST_SINCE_5_2, .ci_savedpc = 32, .ci_status = 62,                     \
	.ci_status_size = 2, .ci_results = 60, .ci_results_size = 2

/* CIST_LUA or CIST_C, CIST_HOOKED, CIST_TAIL and CIST_FIN of lstate.h. */
#define STATUS_5_2 .status_lua = 1 << 0, .status_hooked = 1 << 1, .status_tail = 1 << 6
#define STATUS_5_3 .status_lua = 1 << 1, .status_hooked = 1 << 2, .status_tail = 1 << 5
#define STATUS_5_4_0                                                                               \
	.status_c = 1 << 1, .status_hooked = 1 << 2, .status_tail = 1 << 4,                        \
	.status_finalizer = 1 << 6
#define STATUS_5_4_2                                                                               \
	.status_c = 1 << 1, .status_hooked = 1 << 3, .status_tail = 1 << 5,                        \
	.status_finalizer = 1 << 7

/* lua_State of 5.4.1 and 5.4.2 */
#define STATE_5_4_1                                                                                \
	.state_size = 192, .state_status = 10, .state_top = 16, .state_global = 24,                \
	.state_ci = 32, .state_stack_last = 40, .state_stack = 48, .state_base_ci = 88,            \
	.state_error_jump = 80, .state_allow_hook = 11

const struct layout_puc layouts_puc[] = {
	/* CallInfos in an array, isC in the closure, the running pc in lua_State. */
	{
		.name = "5.1-5.1.5",
		.minor = 1,
		.first_patch = 0,
		.last_patch = 5,
		.offsets = {.minor = 1,
			    CODE_5_1,
			    .ci_base = 0,
			    .ci_has_base = 1,
			    .state_size = 184,
			    .state_status = 10,
			    .state_top = 16,
			    .state_global = 32,
			    .state_ci = 40,
			    .state_savedpc = 48,
			    .state_stack_last = 56,
			    .state_stack = 64,
			    .state_base_ci = 80,
			    .state_ci_room = 92,
			    .state_error_jump = 168,
			    .state_allow_hook = 101,
			    .state_globals = 120,
			    .state_stack_size = 88,
			    .state_stack_spare = 6,
			    .ci_size = 40,
			    .ci_func = 8,
			    .ci_top = 16,
			    .ci_savedpc = 24,
			    .ci_status = 36,
			    .ci_status_size = 4,
			    .ci_results = 32,
			    .ci_results_size = 4,
			    .ci_is_array = 1,
			    .status_tail = 0xffffffff, /* tailcalls: a count */
			    .closure_is_c = 10,
			    .closure_proto = 32,
			    .closure_function = 32,
			    .proto_size = 120,
			    .proto_tag = LS_TYPE_PROTO_TO_5_3,
			    .proto_constants = 16,
			    .proto_code = 24,
			    .proto_line_info = 40,
			    .proto_local_vars = 48,
			    .proto_upvalues = 56,
			    .proto_nested = 32,
			    .proto_nested_count = 88,
			    .proto_source = 64,
			    .proto_upvalue_count = 72,
			    .proto_constant_count = 76,
			    .proto_code_count = 80,
			    .proto_line_info_count = 84,
			    .proto_local_var_count = 92,
			    .proto_line_defined = 96,
			    .proto_last_line_defined = 100,
			    .proto_max_stack = 115,
			    STRING_TO_5_2,
			    .tag_lua_function = LS_TYPE_FUNCTION,
			    .tag_c_function = LS_TYPE_FUNCTION,
			    .global_registry = 160,
			    .global_main_thread = 176,
			    .global_gc_state = 33,
			    .global_objects = 40},
	},
	/* CallInfos become a list; light C functions; isC is still there. */
	{
		.name = "5.2.0",
		.minor = 2,
		.first_patch = 0,
		.last_patch = 0,
		.offsets = {.minor = 2,
			    CODE_5_2,
			    .ci_base = 40,
			    .ci_has_base = 1,
			    .state_size = 208,
			    .state_status = 10,
			    .state_top = 16,
			    .state_global = 24,
			    .state_ci = 32,
			    .state_stack_last = 48,
			    .state_stack = 56,
			    .state_base_ci = 128,
			    .state_error_jump = 112,
			    .state_allow_hook = 73,
			    .state_stack_size = 64,
			    .state_stack_spare = 5,
			    .ci_size = 80,
			    CALL_LIST_SINCE_5_2,
			    .ci_savedpc = 48,
			    .ci_extra = 64,
			    .ci_status = 34,
			    .ci_status_size = 1,
			    .ci_results = 32,
			    .ci_results_size = 2,
			    STATUS_5_2,
			    .closure_is_c = 10,
			    CLOSURE_SINCE_5_2,
			    PROTO_5_2,
			    STRING_TO_5_2,
			    .tag_lua_function = LS_TAG_LUA_FUNCTION | LS_COLLECTABLE,
			    .tag_light_function = LS_TAG_LIGHT_FUNCTION,
			    .tag_c_function = LS_TYPE_FUNCTION | LS_COLLECTABLE,
			    .global_registry = 56,
			    .global_main_thread = 240,
			    .global_gc_state = 73,
			    .global_objects = 80},
	},
	/* C closures get a tag of their own; CallInfo.extra moves savedpc. */
	{
		.name = "5.2.1-5.2.4",
		.minor = 2,
		.first_patch = 1,
		.last_patch = 4,
		.offsets = {.minor = 2,
			    CODE_5_2,
			    .ci_base = 48,
			    .ci_has_base = 1,
			    .state_size = 208,
			    .state_status = 10,
			    .state_top = 16,
			    .state_global = 24,
			    .state_ci = 32,
			    .state_stack_last = 48,
			    .state_stack = 56,
			    .state_base_ci = 128,
			    .state_error_jump = 112,
			    .state_allow_hook = 73,
			    .state_stack_size = 64,
			    .state_stack_spare = 5,
			    .ci_size = 80,
			    CALL_LIST_SINCE_5_2,
			    .ci_savedpc = 56,
			    .ci_extra = 40,
			    .ci_status = 34,
			    .ci_status_size = 1,
			    .ci_results = 32,
			    .ci_results_size = 2,
			    STATUS_5_2,
			    CLOSURE_SINCE_5_2,
			    PROTO_5_2,
			    STRING_TO_5_2,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 264,
			    .global_gc_state = 85,
			    .global_objects = 96},
	},
	/* Proto, CallInfo and lua_State are laid out anew. */
	{
		.name = "5.3.0",
		.minor = 3,
		.first_patch = 0,
		.last_patch = 0,
		.offsets = {.minor = 3,
			    CODE_5_3,
			    STATE_5_3,
			    .state_status = 10,
			    .state_allow_hook = 201,
			    CALL_5_3,
			    .ci_status_size = 1,
			    STATUS_5_3,
			    CLOSURE_SINCE_5_2,
			    PROTO_5_3,
			    .string_contents = 32,
			    .string_length = 16,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 232,
			    .global_gc_state = 85,
			    .global_objects = 88},
	},
	/* TString shrinks: short strings keep their length in a byte. */
	{
		.name = "5.3.1",
		.minor = 3,
		.first_patch = 1,
		.last_patch = 1,
		.offsets = {.minor = 3,
			    CODE_5_3,
			    STATE_5_3,
			    .state_status = 10,
			    .state_allow_hook = 201,
			    CALL_5_3,
			    .ci_status_size = 1,
			    STATUS_5_3,
			    CLOSURE_SINCE_5_2,
			    PROTO_5_3,
			    STRING_SINCE_5_3_1,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 224,
			    .global_gc_state = 85,
			    .global_objects = 88},
	},
	/* status moves behind nci; callstatus grows to two bytes (5.3.4), with CIST_FIN. */
	{
		.name = "5.3.2-5.3.6",
		.minor = 3,
		.first_patch = 2,
		.last_patch = 6,
		.offsets = {.minor = 3,
			    CODE_5_3,
			    STATE_5_3,
			    .state_status = 12,
			    .state_allow_hook = 204,
			    CALL_5_3,
			    .ci_status_size = 2,
			    STATUS_5_3,
			    .status_finalizer = 1 << 8,
			    CLOSURE_SINCE_5_2,
			    PROTO_5_3,
			    STRING_SINCE_5_3_1,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 200,
			    .global_gc_state = 85,
			    .global_objects = 88},
	},
	/* allowhook moves to the front; line information in two parts; tag of Proto changes. */
	{
		.name = "5.4.0",
		.minor = 4,
		.first_patch = 0,
		.last_patch = 0,
		.offsets = {.minor = 4,
			    CODE_SINCE_5_4,
			    .state_size = 200,
			    .state_status = 10,
			    .state_top = 16,
			    .state_global = 24,
			    .state_ci = 32,
			    .state_stack_last = 48,
			    .state_stack = 56,
			    .state_base_ci = 96,
			    .state_error_jump = 88,
			    .state_allow_hook = 11,
			    .state_stack_size = 180,
			    .state_stack_spare = 5,
			    CALL_5_4,
			    STATUS_5_4_0,
			    CLOSURE_SINCE_5_2,
			    PROTO_SINCE_5_4,
			    STRING_SINCE_5_3_1,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 256,
			    .global_gc_state = 101,
			    .global_objects = 112},
	},
	/* A walk cannot tell this from the next: only bits of callstatus differ. */
	{
		.name = "5.4.1",
		.minor = 4,
		.first_patch = 1,
		.last_patch = 1,
		.only_by_release = 1,
		.offsets = {.minor = 4,
			    CODE_SINCE_5_4,
			    STATE_5_4_1,
			    CALL_5_4,
			    STATUS_5_4_0,
			    CLOSURE_SINCE_5_2,
			    PROTO_SINCE_5_4,
			    STRING_SINCE_5_3_1,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 264,
			    .global_gc_state = 101,
			    .global_objects = 112},
	},
	/* CIST_FRESH comes back and moves the bits above it. */
	{
		.name = "5.4.2",
		.minor = 4,
		.first_patch = 2,
		.last_patch = 2,
		.offsets = {.minor = 4,
			    CODE_SINCE_5_4,
			    STATE_5_4_1,
			    CALL_5_4,
			    STATUS_5_4_2,
			    CLOSURE_SINCE_5_2,
			    PROTO_SINCE_5_4,
			    STRING_SINCE_5_3_1,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 264,
			    .global_gc_state = 101,
			    .global_objects = 112},
	},
	/* tbclist in lua_State; CIST_FIN marks the interrupted function. */
	{
		.name = "5.4.3-5.4.9",
		.minor = 4,
		.first_patch = 3,
		.last_patch = 9,
		.offsets = {.minor = 4,
			    CODE_SINCE_5_4,
			    .state_size = 200,
			    .state_status = 10,
			    .state_top = 16,
			    .state_global = 24,
			    .state_ci = 32,
			    .state_stack_last = 40,
			    .state_stack = 48,
			    .state_base_ci = 96,
			    .state_error_jump = 88,
			    .state_allow_hook = 11,
			    .relocates_stack = 1,
			    CALL_5_4,
			    STATUS_5_4_2,
			    CLOSURE_SINCE_5_2,
			    PROTO_SINCE_5_4,
			    STRING_SINCE_5_3_1,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 264,
			    .global_gc_state = 101,
			    .global_objects = 112},
	},
	/* The main thread lies inside global_State; long strings point to their text. */
	{
		.name = "5.5.0-5.5.1",
		.minor = 5,
		.first_patch = 0,
		.last_patch = 1,
		.offsets = {.minor = 5,
			    CODE_SINCE_5_4,
			    .state_size = 208,
			    .state_status = 11,
			    .state_top = 16,
			    .state_global = 24,
			    .state_ci = 32,
			    .state_stack_last = 40,
			    .state_stack = 48,
			    .state_base_ci = 96,
			    .state_error_jump = 88,
			    .state_allow_hook = 10,
			    .relocates_stack = 1,
			    .ci_size = 64,
			    CALL_LIST_SINCE_5_2,
			    .ci_savedpc = 32,
			    .ci_status = 60,
			    .ci_status_size = 4,
			    .ci_results = 60,
			    .ci_results_size = 1,
			    .status_c = 1 << 15,
			    .status_hooked = 1 << 20,
			    .status_tail = 1 << 22,
			    .status_finalizer = 1 << 24,
			    CLOSURE_SINCE_5_2,
			    PROTO_SINCE_5_4,
			    STRING_SINCE_5_3_1,
			    .string_long_text = 24,
			    TAGS_SINCE_5_2,
			    .global_registry = 64,
			    .global_main_thread = 1416,
			    .global_gc_state = 107,
			    .global_objects = 112,
			    .main_thread_is_embedded = 1},
	},
};

const size_t layouts_puc_count = sizeof(layouts_puc) / sizeof(layouts_puc[0]);
_Static_assert(sizeof(layouts_puc) / sizeof(layouts_puc[0]) <= LS_LAYOUT_MAX,
	       "the BPF map is full");

int layout_puc__find(const char *name)
{
	int minor, patch, end;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (!strcmp(layouts_puc[i].name, name))
			return (int)i;
	end = 0;
	if (sscanf(name, "5.%1d.%1d%n", &minor, &patch, &end) != 2 || name[end])
		return -ENOENT;
	for (size_t i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor == minor && layouts_puc[i].first_patch <= patch &&
		    layouts_puc[i].last_patch >= patch)
			return (int)i;
	return -ENOENT;
}
