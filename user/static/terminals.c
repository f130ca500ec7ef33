/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Terminals that the static luaspy knows even if the machine has no terminfo. ncurses asks
 * _nc_fallback2() for a name that its database lacks. libtinfo's version knows none; the linker
 * takes this one instead. No file or environment variable of the caller has any influence on it.
 */
#define NCURSES_INTERNALS 1
#include <curses.h>
#include <term.h>

#include <string.h>

#define ENTRY_MAX 4096 /* bytes of a compiled entry: ncurses' MAX_ENTRY_SIZE, term(5) */

/* terminals.sh makes the list. */
static const struct {
	const char *name;
	size_t size;
	const char *entry;
} terminals[] = {
#include "terminals.inc"
};

extern const TERMTYPE2 *_nc_fallback2(const char *name);

/* ncurses copies the result and never frees it. */
const TERMTYPE2 *_nc_fallback2(const char *name)
{
	static TERMTYPE2 terminal;
	char entry[ENTRY_MAX];

	for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
		size_t size = terminals[i].size;

		if (strcmp(terminals[i].name, name) != 0 || size > sizeof(entry))
			continue;
		memcpy(entry, terminals[i].entry, size);
		return _nc_read_termtype(&terminal, entry, (int)size) == 1 ? &terminal : NULL;
	}
	return NULL;
}

/* Its old form, which libtinfo defines in the same object file. */
const TERMTYPE *_nc_fallback(const char *name)
{
	(void)name;
	return NULL;
}
