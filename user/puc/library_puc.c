/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "elf/function_arrays.h"
#include "puc/family_puc.h"

/*
 * The functions of one library that are taken, as in l*lib.c of all releases. An array is that
 * library's if it has the first three. What runs another state (coroutine.resume and .close,
 * os.exit), or code that is not Lua's (io.*, os.*, require), is not here.
 */
static const char *const libraries[][48] = {
	{"rawequal",   "setmetatable", "tonumber", "assert",   "error",          "getmetatable",
	 "ipairs",     "next",         "pairs",    "pcall",    "print",          "rawget",
	 "rawlen",     "rawset",       "select",   "tostring", "type",           "unpack",
	 "xpcall",     "getfenv",      "setfenv",  "gcinfo",   "collectgarbage", "load",
	 "loadstring", "loadfile",     "dofile",   NULL},
	{"gsub", "byte", "format", "char", "dump", "find", "gmatch", "gfind", "len", "lower",
	 "match", "pack", "packsize", "rep", "reverse", "sub", "unpack", "upper", NULL},
	{"concat", "insert", "sort", "foreach", "foreachi", "getn", "maxn", "move", "pack",
	 "remove", "setn", "unpack", "create", NULL},
	{"floor", "ceil", "sqrt",      "abs",  "acos",  "asin",   "atan",       "atan2", "cos",
	 "cosh",  "deg",  "exp",       "fmod", "frexp", "ldexp",  "log",        "log10", "max",
	 "min",   "mod",  "modf",      "pow",  "rad",   "random", "randomseed", "sin",   "sinh",
	 "tan",   "tanh", "tointeger", "type", "ult",   NULL},
	{"codepoint", "codes", "offset", "char", "len", NULL},
	{"create", "wrap", "yield", "status", "running", "isyieldable", NULL},
	{"arshift", "band", "lrotate", "bnot", "bor", "btest", "bxor", "extract", "lshift",
	 "replace", "rrotate", "rshift", NULL},
};

#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))
#define SIGNS     3

static const uint64_t *function_called(const struct function_array *array, const char *name)
{
	for (size_t i = 0; i < array->count; i++)
		if (array->functions[i] && !strcmp(array->names[i], name))
			return &array->functions[i];
	return NULL;
}

static void take_functions(const struct function_array *array, const char *const *names,
			   struct c_library *library)
{
	for (; *names; names++) {
		const uint64_t *function = function_called(array, *names);

		if (function && library->count < C_LIBRARY_MAX)
			library->functions[library->count++] = *function;
	}
}

static bool is_of(const struct function_array *array, const char *const *names)
{
	for (size_t i = 0; i < SIGNS; i++)
		if (!function_called(array, names[i]))
			return false;
	return true;
}

static bool take_array(void *context, const struct function_array *array)
{
	for (size_t i = 0; i < LIBRARIES; i++) {
		if (!is_of(array, libraries[i]))
			continue;
		take_functions(array, libraries[i], context);
		return true;
	}
	return false;
}

int library_puc__find(const struct elf_file *elf, struct c_library *library)
{
	library->count = 0;
	return function_arrays__visit(elf, take_array, library);
}
