/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences between the interpreters' C APIs, and a function's word (truth.h) in each. */
#ifndef TEST_API_H
#define TEST_API_H

#ifdef WITH_LUAU
#include <lua.h>
#include <lualib.h>
#else
#include <lauxlib.h>
#include <lua.h>
#endif
#include <stdint.h>
#include <string.h>

#ifdef WITH_LUAU
/* Luau's counterparts, under Lua's names. */
#undef lua_pushcfunction
#define lua_pushcfunction(L, function) lua_pushcclosurek(L, function, NULL, 0, NULL)
#define LUA_VERSION_NUM                502 /* of lua_resume() and of calls; it has no hooks */

static int take_reference(lua_State *L)
{
	int reference = lua_ref(L, -1);

	lua_pop(L, 1);
	return reference;
}

#define luaL_ref(L, table)              take_reference(L)
#define luaL_unref(L, table, reference) lua_unref(L, reference)
#endif

#ifdef WITH_LUAJIT
/* lua_tocfunction() tells nothing of builtins: GCfuncC, lj_obj.h, has their code and number. */
static uint64_t c_function_at(lua_State *L, int index)
{
	const unsigned char *object = lua_topointer(L, index);
	uint64_t code;

	if (!lua_iscfunction(L, index))
		return 0;
	memcpy(&code, object + CODE_AT, sizeof(code));
	return object[NUMBER_AT] > 1 ? code | (uint64_t)object[NUMBER_AT] << 56 : code;
}
#else
static uint64_t c_function_at(lua_State *L, int index)
{
	return (uint64_t)(uintptr_t)lua_tocfunction(L, index);
}
#endif

static uint64_t word_at(lua_State *L, int index)
{
	uint64_t function = c_function_at(L, index);

	return function ? function : (uint64_t)lua_tonumber(L, index);
}

#ifdef WITH_LUAU
/* In Luau, a main chunk is defined in line 1, where the workload has no other function. */
static uint64_t word_of(lua_State *L, int level, const lua_Debug *function)
{
	if (!strcmp(function->what, "C"))
		return word_at(L, level);
	return function->linedefined > 1 ? (uint64_t)function->linedefined : 0;
}

static int l_line(lua_State *L)
{
	lua_Debug function;

	lua_getinfo(L, -1, "s", &function);
	lua_pushnumber(L, function.linedefined);
	return 1;
}

static uint64_t word_of_level(lua_State *L, int level)
{
	lua_Debug activation;
	uint64_t word;

	lua_getinfo(L, level, "sf", &activation);
	word = word_of(L, -1, &activation);
	lua_pop(L, 1);
	return word;
}

#define has_level(L, level, activation) lua_getinfo(L, level, "s", activation)
#else
/* line(function): the word of a Lua function. */
static int l_line(lua_State *L)
{
	lua_Debug function;

	lua_pushvalue(L, 1);
	lua_getinfo(L, ">S", &function);
	lua_pushnumber(L, function.linedefined);
	return 1;
}

static uint64_t word_of_level(lua_State *L, int level)
{
	lua_Debug activation;
	uint64_t word;

	lua_getstack(L, level, &activation);
	lua_getinfo(L, "Sf", &activation);
	word = lua_iscfunction(L, -1) ? word_at(L, -1) : (uint64_t)activation.linedefined;
	lua_pop(L, 1);
	return word;
}

#define has_level(L, level, activation) lua_getstack(L, level, activation)
#endif

static int resume(lua_State *thread, lua_State *from)
{
#if LUA_VERSION_NUM >= 504
	int results;

	return lua_resume(thread, from, 0, &results);
#elif LUA_VERSION_NUM >= 502
	return lua_resume(thread, from, 0);
#else
	(void)from;
	return lua_resume(thread, 0);
#endif
}

#endif
