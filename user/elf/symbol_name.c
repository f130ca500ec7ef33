/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/symbol_name.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAS_DEMANGLER

#define SYMBOL_MAX 1024
#define NAME_SIZE  2048

#define HASH_DIGITS 16

/*
 * Of libsupc++, a part of GCC's libstdc++ (libiberty/cp-demangle.c). Passes the name to `take`
 * piece by piece. 0; -2: the name is not mangled.
 */
int __gcclibcxx_demangle_callback(const char *mangled,
				  void (*take)(const char *piece, size_t size, void *context),
				  void *context);

struct name {
	char *text; /* NAME_SIZE */
	size_t length;
	jmp_buf too_long;
};

/*
 * A symbol of 250 bytes can stand for a name of a gigabyte, if each type contains the one before it
 * twice. The demangler has no limit, but it allocates nothing, so a jump may leave it.
 */
static void take(const char *piece, size_t size, void *context)
{
	struct name *name = context;

	if (size >= NAME_SIZE - name->length)
		longjmp(name->too_long, 1);
	memcpy(name->text + name->length, piece, size);
	name->length += size;
}

/* Writes the name to text[NAME_SIZE]. False: the symbol is not mangled, or its name is too long. */
static bool demangle(const char *symbol, char *text)
{
	struct name name = {.text = text};

	memset(text, 0, NAME_SIZE);
	return !setjmp(name.too_long) && !__gcclibcxx_demangle_callback(symbol, take, &name);
}

/*
 * Whether an expression begins here, as types of some templates have one: as a decltype, as an
 * argument, as a condition of noexcept, or as the size of an array or a vector.
 */
static bool is_expression(const char *at)
{
	if (*at == 'A')
		return !isdigit((unsigned char)at[1]) && at[1] != '_';
	return *at == 'X' || !strncmp(at, "DT", 2) || !strncmp(at, "Dt", 2) ||
	       !strncmp(at, "DO", 2) || !strncmp(at, "Dv_", 3);
}

/*
 * GCC 12's demangler never returns from some expressions, such as _Z1fIOAsrU. This skips
 * identifiers, which may look like expressions, by taking every number for the length of one. A
 * hostile symbol can use a literal to hide an expression: then the worker's CPU limit stops the
 * demangler (confinement__limit_cpu()).
 */
static bool has_expression(const char *symbol)
{
	while (*symbol) {
		unsigned long length = 1;

		if (isdigit((unsigned char)*symbol))
			length = strtoul(symbol, (char **)&symbol, 10);
		else if (is_expression(symbol))
			return true;
		symbol += strnlen(symbol, length);
	}
	return false;
}

static bool cut_end(char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	if (length <= size || strcmp(name + length - size, end) != 0)
		return false;
	name[length - size] = '\0';
	return true;
}

/* "foo(int) [clone .constprop.0] [clone .isra.0]" */
static void cut_clones(char *name)
{
	char *clone = strstr(name, " [clone ");

	if (clone)
		*clone = '\0';
}

/* The hash of Rust's legacy mangling: "parser::parse::h0123456789abcdef". */
static void cut_hash(char *name)
{
	size_t length = strlen(name);
	char *hash;

	if (length <= HASH_DIGITS + 3)
		return;
	hash = name + length - HASH_DIGITS;
	if (strncmp(hash - 3, "::h", 3) != 0 || hash[strspn(hash, "0123456789abcdef")])
		return;
	hash[-3] = '\0';
}

/* "_FUN" is the function through which C calls a lambda without captures. */
static void cut_additions(char *name)
{
	cut_clones(name);
	cut_hash(name);
	if (cut_end(name, "(lua_State*)"))
		cut_end(name, "::_FUN");
}

char *symbol_name__demangle(const char *symbol)
{
	char name[NAME_SIZE];

	if (strncmp(symbol, "_Z", 2) != 0 || strnlen(symbol, SYMBOL_MAX + 1) > SYMBOL_MAX ||
	    has_expression(symbol) || !demangle(symbol, name))
		return NULL;
	cut_additions(name);
	return strdup(name);
}

#else

char *symbol_name__demangle(const char *symbol)
{
	(void)symbol;
	return NULL;
}

#endif
