/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/eh_frame.h"
#include "elf/function_arrays.h"
#include "elf/machine_code.h"
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

#define CODE_MOST 1024 /* bytes of a function that makes closures of another one */

struct search {
	const struct elf_file *elf;
	struct function_range *functions; /* of the file; NULL: not read yet, or unknown */
	size_t function_count;
	struct c_library *library;
	int error;
};

/* The only function whose address the function `by` loads. */
struct loaded {
	const struct search *search;
	uint64_t by, function; /* 0: none so far */
	bool is_ambiguous;
};

static void note_loaded(void *context, uint64_t address)
{
	struct loaded *loaded = context;
	const struct search *search = loaded->search;
	size_t at = eh_frame__find(search->functions, search->function_count, address);

	if (at == SIZE_MAX || search->functions[at].start != address || address == loaded->by)
		return;
	loaded->is_ambiguous |= loaded->function && loaded->function != address;
	loaded->function = address;
}

/*
 * Returns the function of which the one at `address` makes closures, by the only function address
 * that its code loads; 0: unknown.
 */
static uint64_t made_by(struct search *search, uint64_t address)
{
	struct loaded loaded = {.search = search, .by = address};
	uint8_t code[CODE_MOST];
	size_t at, size;

	if (!search->functions && !search->error)
		search->error =
			eh_frame__read(search->elf, &search->functions, &search->function_count);
	if (search->error)
		return 0;
	at = eh_frame__find(search->functions, search->function_count, address);
	if (at == SIZE_MAX || search->functions[at].start != address)
		return 0;
	size = search->functions[at].end - address;
	if (size > sizeof(code) ||
	    elf_file__read(search->elf, address, code, size) != (ssize_t)size)
		return 0;
	machine_code__visit_addresses(elf_file__machine(search->elf), code, size, address,
				      note_loaded, &loaded);
	return loaded.is_ambiguous ? 0 : loaded.function;
}

static uint64_t function_called(const struct function_array *array, const char *name)
{
	for (size_t i = 0; i < array->count; i++)
		if (!strcmp(array->names[i], name))
			return array->functions[i];
	return 0;
}

static void take_function(struct c_library *library, uint64_t function)
{
	if (function && library->count < C_LIBRARY_MAX)
		library->functions[library->count++] = function;
}

/* Also takes the iterators that ipairs and string.gmatch return, where they can be found. */
static void take_functions(struct search *search, const struct function_array *array,
			   const char *const *names)
{
	for (; *names; names++) {
		uint64_t function = function_called(array, *names);

		take_function(search->library, function);
		if (function && (!strcmp(*names, "ipairs") || !strcmp(*names, "gmatch")))
			take_function(search->library, made_by(search, function));
	}
}

static void take_resumer(struct search *search, const struct function_array *array)
{
	search->library->resumer = (struct ls_resumer){
		.resume = function_called(array, "resume"),
		.auxwrap = made_by(search, function_called(array, "wrap")),
	};
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
	struct search *search = context;

	for (size_t i = 0; i < LIBRARIES; i++) {
		if (!is_of(array, libraries[i]))
			continue;
		take_functions(search, array, libraries[i]);
		if (function_called(array, "resume"))
			take_resumer(search, array);
		return true;
	}
	return false;
}

int library_puc__find(const struct elf_file *elf, struct c_library *library)
{
	struct search search = {.elf = elf, .library = library};
	int error;

	*library = (struct c_library){};
	error = function_arrays__visit(elf, take_array, &search);
	free(search.functions);
	return error ? error : search.error == -ENOMEM ? -ENOMEM : 0;
}
