/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_luau SCRIPT [ARGUMENT]...: a program that embeds Luau. It runs the script on a coroutine, as
 * such programs do, and has these functions for it:
 *
 *   cputime()        the CPU time of the thread, in seconds
 *   spawn(f, ...)    resumes a new coroutine as a task library does, which names no resumer
 *   resume(f, ...)   likewise, but as the coroutine that runs
 *   start(path)      runs another script in a VM of its own, on a thread of its own
 *   share(f, ...)    calls each function again and again on a thread of its own, "t1" and so on;
 *                    all have one coroutine, take turns with it, and offer the processor to
 *                    others while they wait
 *   setmemcat(n)     from now on, what the coroutine allocates counts to memory category n
 *   innative()       whether its caller runs as machine code
 *   singlestep(on)   the coroutine, and those that it resumes, run as if a debugger stepped
 *                    through them
 *   lua(path, text)  runs text in another interpreter, of the thread's own: PUC Lua, which the
 *                    library at path holds
 *   wait()           waits for good, within the call
 *   interrupt()      the coroutine yields at the next loop or call of a Lua function
 *   loadstring(text, name)  compiles text, as Lua 5.1's does
 *   require(name)    the value of name.lua beside the script
 *   write(text)      writes to standard output at once
 *
 * When the script yields, it is not resumed: the host waits for good, with no call of the VM.
 */
#include <atomic>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "lua.h"
#include "luacode.h"
#include "lualib.h"
#ifdef WITH_NATIVE
#include "luacodegen.h"
#endif

static int l_cputime(lua_State *L)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	lua_pushnumber(L, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
	return 1;
}

static int resume_new(lua_State *L, lua_State *from)
{
	int count = lua_gettop(L);
	lua_State *thread = lua_newthread(L);
	int anchor = lua_ref(L, -1);

	lua_pop(L, 1); /* the C function does not hold it */
	lua_xmove(L, thread, count);
	if (lua_resume(thread, from, count - 1) > LUA_YIELD)
		std::cerr << lua_tostring(thread, -1) << "\n";
	lua_unref(L, anchor);
	return 0;
}

static int l_spawn(lua_State *L)
{
	return resume_new(L, NULL);
}

static int l_resume(lua_State *L)
{
	return resume_new(L, L);
}

/* Releases of 2022 have it not. */
extern "C" void lua_setmemcat(lua_State *L, int category) __attribute__((weak));

static int l_setmemcat(lua_State *L)
{
	lua_setmemcat(L, luaL_checkinteger(L, 1));
	return 0;
}

static int l_singlestep(lua_State *L)
{
	lua_singlestep(L, lua_toboolean(L, 1));
	return 0;
}

#ifdef WITH_NATIVE
static int l_innative(lua_State *L)
{
	lua_pushboolean(L, lua_incustomexecution(L, 1));
	return 1;
}
#endif

#ifdef WITH_LIBRARIES
/* Their structures have the same names as Luau's, but not the same members. */
static void *open_lua(void *library, const char *text)
{
	auto new_state = (void *(*)(void))dlsym(library, "luaL_newstate");
	auto load = (int (*)(void *, const char *))dlsym(library, "luaL_loadstring");
	void *state = new_state();

	return load(state, text) ? NULL : state;
}

static int l_lua(lua_State *L)
{
	static thread_local void *library, *state;

	if (!state) {
		library = dlopen(luaL_checkstring(L, 1), RTLD_NOW | RTLD_LOCAL);
		state = library ? open_lua(library, luaL_checkstring(L, 2)) : NULL;
	}
	if (!state)
		luaL_error(L, "cannot open %s", luaL_checkstring(L, 1));
	auto push_value = (void (*)(void *, int))dlsym(library, "lua_pushvalue");
	auto call = (void (*)(void *, int, int, long, void *))dlsym(library, "lua_callk");
	push_value(state, 1);
	call(state, 0, 0, 0, NULL);
	return 0;
}
#endif

static void wait_for_good(void)
{
	for (;;)
		pause();
}

static int l_wait(lua_State *L)
{
	wait_for_good();
	return 0;
}

static void yield_once(lua_State *L, int gc)
{
	if (gc >= 0)
		return;
	lua_callbacks(L)->interrupt = NULL;
	lua_yield(L, 0);
}

static int l_interrupt(lua_State *L)
{
	lua_callbacks(L)->interrupt = yield_once;
	return 0;
}

static int run(const char *path, int argc, char **argv);

static int l_start(lua_State *L)
{
	std::string path = luaL_checkstring(L, 1);

	std::thread([path] { run(path.c_str(), 0, NULL); }).detach();
	return 0;
}

static std::atomic_flag is_taken;

/*
 * The frame has more room than it uses, as that of many a function, and so keeps what the last turn
 * left on the stack.
 */
static __attribute__((noinline)) char await_turn()
{
	volatile char room[4096];

	room[0] = 1;
	while (is_taken.test_and_set()) {
		sched_yield();
		room[0] = 1;
	}
	return room[0];
}

static void take_turns(lua_State *L, int function)
{
	char name[16];

	snprintf(name, sizeof(name), "t%d", function);
	prctl(PR_SET_NAME, name);
	for (;;) {
		await_turn();
		lua_pushvalue(L, function);
		lua_call(L, 0, 0);
		is_taken.clear();
	}
}

static int l_share(lua_State *L)
{
	int count = lua_gettop(L);
	lua_State *shared = lua_newthread(L);
	std::vector<std::thread> threads;

	lua_insert(L, 1);
	lua_xmove(L, shared, count);
	for (int i = 1; i <= count; i++)
		threads.emplace_back(take_turns, shared, i);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}

static bool load_text(lua_State *L, const std::string &text, const char *chunk)
{
	lua_CompileOptions options = {};
	size_t size;
	char *code;

	options.optimizationLevel = 1;
	options.debugLevel = 1;
	code = luau_compile(text.data(), text.size(), &options, &size);
	int error = luau_load(L, chunk, code, size, 0);
	free(code);
#ifdef WITH_NATIVE
	if (!error)
		luau_codegen_compile(L, -1);
#endif
	return !error;
}

static bool load(lua_State *L, const std::string &path)
{
	std::ifstream file(path);
	std::stringstream text;

	text << file.rdbuf();
	return load_text(L, text.str(), ("@" + path).c_str());
}

static int l_loadstring(lua_State *L)
{
	size_t length;
	const char *text = luaL_checklstring(L, 1, &length);

	return load_text(L, std::string(text, length), luaL_checkstring(L, 2));
}

static int l_write(lua_State *L)
{
	size_t length;
	const char *text = luaL_checklstring(L, 1, &length);

	if (write(STDOUT_FILENO, text, length) < 0)
		luaL_error(L, "cannot write");
	return 0;
}

static void add(lua_State *L, const char *name, lua_CFunction function)
{
	lua_pushcfunction(L, function, name);
	lua_setglobal(L, name);
}

#ifdef WITH_MODULE
extern "C" int luaopen_oracle(lua_State *L);
#else
static std::string folder_of_script;

static int l_require(lua_State *L)
{
	if (!load(L, folder_of_script + luaL_checkstring(L, 1) + ".lua"))
		luaL_error(L, "%s", lua_tostring(L, -1));
	lua_call(L, 0, 1);
	return 1;
}
#endif

#ifdef WITH_COLLECTOR
extern "C" void collector_begins(lua_State *L);
#endif

static int run(const char *path, int argc, char **argv)
{
	lua_State *L = luaL_newstate();

	luaL_openlibs(L);
#ifdef WITH_NATIVE
	luau_codegen_create(L);
	add(L, "innative", l_innative);
#endif
	add(L, "cputime", l_cputime);
	add(L, "spawn", l_spawn);
	add(L, "resume", l_resume);
	add(L, "start", l_start);
	add(L, "share", l_share);
	add(L, "singlestep", l_singlestep);
	if (lua_setmemcat)
		add(L, "setmemcat", l_setmemcat);
#ifdef WITH_LIBRARIES
	add(L, "lua", l_lua);
#endif
	add(L, "wait", l_wait);
	add(L, "interrupt", l_interrupt);
	add(L, "loadstring", l_loadstring);
	add(L, "write", l_write);
#ifdef WITH_MODULE
	add(L, "require", luaopen_oracle);
#else
	add(L, "require", l_require);
#endif
#ifdef WITH_COLLECTOR
	collector_begins(L);
#endif
#ifdef WITH_SANDBOX
	luaL_sandbox(L);
#endif
	lua_State *thread = lua_newthread(L);
#ifdef WITH_SANDBOX
	luaL_sandboxthread(thread);
#endif
	bool is_loaded = load(thread, path);
	for (int i = 0; i < argc && is_loaded; i++)
		lua_pushstring(thread, argv[i]);
	int status = is_loaded ? lua_resume(thread, NULL, argc) : -1;
	if (status == LUA_YIELD)
		wait_for_good();
	if (status != LUA_OK) {
		std::cerr << lua_tostring(thread, -1) << "\n";
		return 1;
	}
	lua_close(L);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setvbuf(stdout, NULL, _IOLBF, 0);
#ifndef WITH_MODULE
	folder_of_script = argv[1];
	folder_of_script.erase(folder_of_script.rfind('/') + 1);
#endif
	return run(argv[1], argc - 2, argv + 2);
}
