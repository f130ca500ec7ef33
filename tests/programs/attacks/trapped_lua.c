/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trapped_lua KIND DEVICE FOLDER [UID]: a Lua that runs a script whose line tables and local names
 * are in memory that never arrives: for KIND "fuse" that of a file which FUSE serves, for
 * "userfault" memory that userfaultfd(2) watches; DEVICE and FOLDER are then ignored. The script
 * never needs it, but whoever reads it from outside waits. It prints "honest" and runs another
 * script until it reads a line, then prints "trapped" and runs that one. Started by root, it
 * becomes UID.
 *
 * Each block that Lua allocates is on pages of its own, so that any of them can be replaced.
 */
#include <fcntl.h>
#include <lauxlib.h>
#include <linux/userfaultfd.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/fuse_trap.h"

#define PAGE       4096
#define BLOCKS     65536
#define LINES      3000
#define APART      (1ull << 20) /* between traps in the file: no read-ahead reaches another */
#define MARK       "trapped_local"
#define TRAPS_MOST 16

/* In order of allocation. */
static struct block {
	char *start;
	size_t size; /* 0: freed */
} blocks[BLOCKS];
static size_t block_count;

static size_t whole_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

static struct block *find_block(const void *start)
{
	for (size_t i = block_count; i-- > 0;)
		if (blocks[i].start == start)
			return &blocks[i];
	return NULL;
}

static char *add_block(size_t size)
{
	char *start = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED || block_count == BLOCKS)
		return NULL;
	blocks[block_count++] = (struct block){start, size};
	return start;
}

/* lua_Alloc */
static void *allocate(void *context, void *old, size_t old_size, size_t size)
{
	struct block *block = old ? find_block(old) : NULL;
	char *start = NULL;

	(void)context;
	if (block && size && whole_pages(size) == whole_pages(old_size)) {
		block->size = size;
		return old;
	}
	if (size) {
		start = add_block(size);
		if (!start)
			return NULL;
		if (block)
			memcpy(start, old, old_size < size ? old_size : size);
	}
	if (block) {
		munmap(block->start, whole_pages(block->size));
		*block = (struct block){};
	}
	return start;
}

/* ---- memory that never comes */

static struct fuse_trap trap;
static int trap_file = -1, userfault = -1, is_mounted_by_user;
static char *trapped[TRAPS_MOST];
static size_t trapped_count;

static void start_userfault(void)
{
	struct uffdio_api api = {.api = UFFD_API};

	userfault = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (userfault < 0 || ioctl(userfault, UFFDIO_API, &api)) {
		perror("userfaultfd");
		exit(BURNING_CANNOT);
	}
}

static void cover_by_userfault(char *start, size_t size)
{
	struct uffdio_register range = {.range = {(uintptr_t)start, size},
					.mode = UFFDIO_REGISTER_MODE_MISSING};

	if (mmap(start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED ||
	    ioctl(userfault, UFFDIO_REGISTER, &range))
		give_up("cannot cover memory");
}

static void cover_by_file(char *start, size_t size)
{
	if (mmap(start, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, trap_file,
		 (off_t)(trapped_count * APART)) == MAP_FAILED ||
	    madvise(start, size, MADV_RANDOM))
		give_up("cannot cover memory");
}

static void cover(const struct block *block)
{
	size_t size = whole_pages(block->size);

	if (trapped_count == TRAPS_MOST)
		return;
	if (userfault >= 0)
		cover_by_userfault(block->start, size);
	else
		cover_by_file(block->start, size);
	trapped[trapped_count++] = block->start;
}

/*
 * Proto.lineinfo has a byte for each instruction, and Proto.code 4 bytes (lobject.h of 5.4); the
 * names of local variables are strings.
 */
static void cover_what_is_not_needed(void)
{
	for (size_t i = 0; i < block_count; i++) {
		const struct block *block = &blocks[i];
		int is_lines = 0;

		for (size_t j = 0; block->size > LINES && j < block_count; j++)
			is_lines |= blocks[j].size == 4 * block->size;
		if (is_lines || (block->size && block->size < 64 &&
				 memmem(block->start, block->size, MARK, strlen(MARK))))
			cover(block);
	}
}

/*
 * Processes of other users may not access a file system that a user mounted, but they wait for a
 * page that its owner already waits for. So each page gets a thread that waits for it.
 */
static void *wait_for(void *address)
{
	return (void *)(uintptr_t) * (volatile char *)address;
}

static void wait_for_all(void)
{
	pthread_t thread;

	for (size_t i = 0; i < trapped_count; i++)
		if (pthread_create(&thread, NULL, wait_for, trapped[i]))
			give_up("pthread_create");
}

/* ---- the script */

static volatile int is_told;

static void *await_line(void *nothing)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin))
		exit(0);
	is_told = 1;
	return nothing;
}

/* By then luaspy has recognized this Lua, and has read nothing of the other script. */
static int go_on(lua_State *state)
{
	if (is_told) {
		cover_what_is_not_needed();
		if (is_mounted_by_user && trap_file >= 0)
			wait_for_all();
		printf("trapped %zu\n", trapped_count);
		fflush(stdout);
	}
	lua_pushboolean(state, !is_told);
	return 1;
}

/* A function of thousands of lines, which calls a local one. */
static void write_script(char *to)
{
	to += sprintf(to,
		      "local go_on = ...\n"
		      "local function honest() while go_on() do for i = 1, 1e5 do end end end\n"
		      "local function work(x)\n"
		      "local %s = function(y) for i = 1, 1000 do y = y + i end return y end\n"
		      "while true do\n",
		      MARK);
	for (int i = 0; i < LINES; i++)
		to += sprintf(to, "x = x + %d\n", i % 100);
	sprintf(to, "x = %s(x) %% 1000 end end honest() work(1)\n", MARK);
}

static void run_script(void)
{
	static char script[LINES * 16 + 512];
	lua_State *state = lua_newstate(allocate, NULL);

	write_script(script);
	if (!state)
		exit(1);
	luaL_openlibs(state);
	if (luaL_loadbuffer(state, script, strlen(script), "@trapped.lua"))
		exit(1);
	lua_gc(state, LUA_GCSTOP);
	lua_pushcfunction(state, go_on);
	say("honest");
	exit(lua_pcall(state, 1, 0, 0));
}

static void start_trap(char **argv)
{
	uid_t user = argv[4] ? (uid_t)atoi(argv[4]) : geteuid();

	if (!strcmp(argv[1], "userfault")) {
		start_userfault();
		become_user(user);
		return;
	}
	trap.kind = FUSE_TRAP_READ;
	trap.device = argv[2];
	trap.folder = argv[3];
	trap.user = user;
	fuse_trap__start(&trap);
	trap_file = fuse_trap__open(&trap);
	fuse_trap__shut(&trap);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 4)
		return 2;
	is_mounted_by_user = geteuid() != 0;
	start_trap(argv);
	if (pthread_create(&thread, NULL, await_line, NULL))
		return 1;
	run_script();
}
