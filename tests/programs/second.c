/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A module for a program that runs LuaJIT, as package.loadlib() loads it: its function runs a
 * script in an interpreter of another family, Debian's liblua5.4. Both export functions of the same
 * names, so that library binds to its own (RTLD_DEEPBIND), and this module asks it for them.
 */
#include <dlfcn.h>
#include <stddef.h>

typedef struct second_state second_state;

#define SCRIPT                                                                                     \
	"local function second()\n"                                                                \
	"	local x = 0 for i = 1, 20000 do x = x + i % 7 end return x\n"                            \
	"end\n"                                                                                    \
	"return function() for i = 1, 4 do second() end end"

static void *library;
static second_state *state;

static second_state *load_script(void)
{
	second_state *(*new_state)(void);
	int (*load)(second_state * L, const char *text);

	library = dlopen("liblua5.4.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!library)
		return NULL;
	*(void **)&new_state = dlsym(library, "luaL_newstate");
	*(void **)&load = dlsym(library, "luaL_loadstring");
	state = new_state();
	return state && !load(state, SCRIPT) ? state : NULL;
}

/* Returns no values, or nothing at all happens: there is no such library. */
int run_second(void *caller)
{
	void (*call)(second_state * L, int arguments, int results, long context,
		     void *continuation);
	void (*push_value)(second_state * L, int index);

	(void)caller;
	if (!state && !load_script())
		return 0;
	*(void **)&call = dlsym(library, "lua_callk");
	*(void **)&push_value = dlsym(library, "lua_pushvalue");
	push_value(state, 1);
	call(state, 0, 1, 0, NULL);
	call(state, 0, 0, 0, NULL);
	return 0;
}
