/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "interpreter/family.h"
#include "interpreter/interpreters.h"
#include "process/process.h"
#include "puc/layout_puc.h"
#include "skip.h"
#include "stage.h"

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no such process. */
#define NO_PID 2000000000

/* A bit for each layout of that minor version that holds one of the patches. */
/* Of PUC Lua: 4 of "5.4.6". */
static int minor_of(const struct lua_file *file)
{
	assert_ptr_equal(file->family, families__get(LS_FAMILY_PUC));
	return file->release[2] - '0';
}

static uint16_t layouts_of(int minor, int first_patch, int last_patch)
{
	uint16_t layouts = 0;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor == minor && layouts_puc[i].first_patch <= last_patch &&
		    layouts_puc[i].last_patch >= first_patch)
			layouts |= 1U << i;
	return layouts;
}

/* The layouts to try if the file does not tell the patch release. */
static uint16_t layouts_of_minor(int minor)
{
	return layouts_of(minor, 0, 99) & families__get(LS_FAMILY_PUC)->distinct_layouts();
}

/* Starts a Lua and returns once it waits. Until then, its memory may still be that of the test. */
static struct child *start_lua(struct stage *stage, const char *program)
{
	struct child *child =
		start(stage, program, "-e", "print('up') io.stdout:flush() io.read()");

	child__await_output(stage, child, "up\n");
	return child;
}

static void find(pid_t pid, struct interpreters *found)
{
	struct lua_files *files = lua_files__new();

	assert_non_null(files);
	assert_int_equal(interpreters__find(files, pid, found), 0);
	lua_files__free(files);
}

/* The only one; freed by its path. */
static void identify(const struct child *child, struct interpreter *interpreter)
{
	struct interpreters found;

	find(child->pid, &found);
	assert_int_equal(found.count, 1);
	/* What has no layout is only reported. */
	assert_int_equal(found.profiled, found.items[0].file.layouts ? 1 : 0);
	*interpreter = found.items[0];
	free(found.items);
}

/*
 * Copies `program` into the stage's folder. If `from` is not NULL, `to` overwrites it and, if `to`
 * is longer, what follows it.
 */
static const char *copy_program(struct stage *stage, const char *program, const char *name,
				const char *from, const char *to)
{
	const char *path = in_folder(stage, name);
	size_t size, replaced = 0;
	char *content = read_file(program, &size);

	for (size_t at = 0; from && at + strlen(from) <= size; at++) {
		if (memcmp(content + at, from, strlen(from)))
			continue;
		assert_in_range(strlen(to), 0, size - at);
		memcpy(content + at, to, strlen(to));
		replaced++;
	}
	assert_int_equal(!from, !replaced);
	write_file(path, content, size);
	assert_int_equal(chmod(path, 0700), 0);
	free(content);
	return path;
}

static void identifies_one(struct stage *stage, int minor)
{
	struct interpreter interpreter;
	char program[16], path[32], release[8];
	int patch;

	snprintf(program, sizeof(program), "lua5.%d", minor);
	snprintf(path, sizeof(path), "/usr/bin/%s", program);
	snprintf(release, sizeof(release), "5.%d.", minor);
	need_program(program, "lua5.*");
	identify(start_lua(stage, program), &interpreter);
	assert_memory_equal(interpreter.file.release, release, strlen(release));
	patch = atoi(interpreter.file.release + strlen(release));
	assert_int_equal(interpreter.file.layouts, layouts_of(minor, patch, patch));
	assert_int_not_equal(interpreter.file.layouts, 0);
	if (has_program(path))
		assert_string_equal(interpreter.path, path);
	free(interpreter.path);
}

static void identifies_lua_5_1(void **state)
{
	identifies_one(*state, 1);
}

static void identifies_lua_5_2(void **state)
{
	identifies_one(*state, 2);
}

static void identifies_lua_5_3(void **state)
{
	identifies_one(*state, 3);
}

static void identifies_lua_5_4(void **state)
{
	identifies_one(*state, 4);
}

static void goes_by_content_whatever_the_name(void **state)
{
	struct stage *stage = *state;
	struct interpreter interpreter;
	const char *path;

	need_program("/usr/bin/lua5.4", "lua5.4");
	path = copy_program(stage, "/usr/bin/lua5.4", "luajit-5.1.so", NULL, NULL);
	identify(start_lua(stage, path), &interpreter);
	assert_memory_equal(interpreter.file.release, "5.4.", 4);
	assert_string_equal(interpreter.path, in_folder(stage, "luajit-5.1.so"));
	free(interpreter.path);
}

static void finds_the_file_that_was_deleted_since(void **state)
{
	struct stage *stage = *state;
	struct interpreter interpreter;
	struct child *child;
	const char *path;

	need_root();
	need_program("/usr/bin/lua5.3", "lua5.3");
	path = copy_program(stage, "/usr/bin/lua5.3", "gone", NULL, NULL);
	child = start_lua(stage, path);
	assert_int_equal(unlink(in_folder(stage, "gone")), 0);
	identify(child, &interpreter);
	assert_memory_equal(interpreter.file.release, "5.3.", 4);
	assert_string_equal(interpreter.path, in_folder(stage, "gone"));
	free(interpreter.path);
}

static void finds_no_lua_in_another_program(void **state)
{
	struct stage *stage = *state;
	struct interpreters found;
	struct child *child = start(stage, "sh", "-c", "echo up; exec sleep 60");
	char name[16] = "";

	child__await_output(stage, child, "up\n");
	for (int i = 0; i < 1000 && strcmp(name, "sleep"); i++) {
		sleep_seconds(0.01);
		assert_int_equal(process__name(child->pid, name), 0);
	}
	find(child->pid, &found);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.profiled, found.count);
}

static void says_that_a_process_is_gone(void **state)
{
	struct lua_files *files = lua_files__new();
	struct interpreters found;

	(void)state;
	assert_non_null(files);
	assert_int_equal(interpreters__find(files, NO_PID, &found), -ESRCH);
	assert_int_equal(found.count, 0);
	lua_files__free(files);
}

/* A copy of lua5.4 that calls itself something else. */
static void calls_itself(void **state, const char *ident, const char *release, uint16_t layouts)
{
	struct stage *stage = *state;
	struct interpreter interpreter;
	const char *path;

	need_program("/usr/bin/lua5.4", "lua5.4");
	path = copy_program(stage, "/usr/bin/lua5.4", "lua", "$LuaVersion: Lua 5.4.", ident);
	identify(start_lua(stage, path), &interpreter);
	assert_string_equal(interpreter.file.release, release);
	assert_int_equal(interpreter.file.layouts, layouts);
	free(interpreter.path);
}

static void tries_all_of_the_minor_version_for_a_patch_that_is_too_new(void **state)
{
	calls_itself(state, "$LuaVersion: Lua 5.4.77 ", "5.4.77", layouts_of_minor(4));
	assert_int_not_equal(layouts_of_minor(4), layouts_of(4, 4, 4));
}

static void tries_all_of_the_minor_version_without_an_ident(void **state)
{
	calls_itself(state, "$XuaVersion: Lua 5.4.4  ", "5.4", layouts_of_minor(4));
}

static void takes_a_layout_by_release_that_only_a_release_tells(void **state)
{
	calls_itself(state, "$LuaVersion: Lua 5.4.1  ", "5.4.1", layouts_of(4, 1, 1));
	assert_int_equal(layouts_of(4, 1, 1) & families__get(LS_FAMILY_PUC)->distinct_layouts(), 0);
}

static void survives_an_ident_without_end(void **state)
{
	calls_itself(state, "$LuaVersion: Lua 5.44444444444444444444", "5.444444", 0);
}

static void tries_every_layout_that_a_walk_tells_apart(void **state)
{
	uint16_t all = families__get(LS_FAMILY_PUC)->distinct_layouts();

	(void)state;
	assert_int_equal(all >> layouts_puc_count, 0);
	for (size_t i = 0; i < layouts_puc_count; i++)
		assert_int_equal(all >> i & 1, !layouts_puc[i].only_by_release);
}

/* The first range of code is every mapping of that file that is not writable. */
static void covers_the_code(struct stage *stage, const char *program)
{
	struct process_mappings mappings = {};
	struct interpreter interpreter;
	struct child *child;
	int executable = 0;

	need_program(program, "lua5.*");
	child = start_lua(stage, program);
	identify(child, &interpreter);
	assert_int_equal(process__mappings(child->pid, &mappings), 0);
	for (size_t i = 0; i < mappings.count; i++) {
		const struct process_mapping *mapping = &mappings.items[i];
		int is_lua = !strcmp(mapping->path, interpreter.path);

		if (is_lua && mapping->executable) {
			assert_in_range(mapping->start, interpreter.code[0].low,
					interpreter.code[0].high - 1);
			assert_in_range(mapping->end, interpreter.code[0].low + 1,
					interpreter.code[0].high);
			executable++;
		} else if (!is_lua || mapping->writable) {
			assert_not_in_range(mapping->start, interpreter.code[0].low,
					    interpreter.code[0].high - 1);
		}
	}
	assert_int_equal(executable, 1);
	if (!interpreter.file.is_shared_library)
		assert_memory_equal(&interpreter.code[0], &interpreter.code[1],
				    sizeof(interpreter.code[0]));
	process__mappings_free(&mappings);
	free(interpreter.path);
}

static void covers_the_code_of_lua_5_1(void **state)
{
	covers_the_code(*state, "lua5.1");
}

static void covers_the_code_of_lua_5_4(void **state)
{
	covers_the_code(*state, "lua5.4");
}

#define LIBRARY "/usr/lib/*-linux-gnu/"

/* A program that has opened these libraries, its last word "up". */
static struct child *start_loader(struct stage *stage, const char *one, const char *other)
{
	char command[512];
	struct child *child;

	snprintf(command, sizeof(command),
		 "printf 'for i = 1, #arg do assert(package.loadlib(arg[i], \"*\")) end "
		 "print(\"up\") io.stdout:flush() io.read()' >open.lua; exec lua5.4 open.lua %s %s",
		 one, other);
	child = start(stage, "sh", "-c", command);
	child__await_output(stage, child, "up\n");
	return child;
}

static void finds_every_lua_of_a_process(void **state)
{
	struct interpreters found;
	struct child *child;
	bool seen[6] = {};

	need_program("lua5.4", "lua5.4");
	if (access("/usr/include/lua5.1/lua.h", R_OK) || access("/usr/include/lua5.3/lua.h", R_OK))
		lacks_package("liblua5.3-dev");
	child = start_loader(*state, LIBRARY "liblua5.1.so.0", LIBRARY "liblua5.3.so.0");
	find(child->pid, &found);
	assert_int_equal(found.count, 3);
	for (size_t i = 0; i < found.count; i++)
		seen[minor_of(&found.items[i].file)] = true;
	assert_int_equal(seen[1] && seen[3] && seen[4], 1);
	interpreters__free(&found);
}

static void finds_a_luajit_beside_lua(void **state)
{
	struct interpreters found;
	struct child *child;
	size_t of_luajit = 0;

	need_program("lua5.4", "lua5.4");
	need_program("luajit", "luajit");
	child = start_loader(*state, LIBRARY "libluajit-5.1.so.2", "");
	find(child->pid, &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.profiled, 2);
	for (size_t i = 0; i < found.count; i++) {
		const struct lua_file *file = &found.items[i].file;

		of_luajit += file->family->id == LS_FAMILY_LUAJIT;
		if (file->family->id == LS_FAMILY_LUAJIT)
			assert_string_equal(file->release, "2.1.0-beta3");
		else
			assert_int_equal(minor_of(file), 4);
	}
	assert_int_equal(of_luajit, 1);
	interpreters__free(&found);
}

static void reads_no_file_twice(void **state)
{
	struct lua_files *files = lua_files__new();
	struct interpreters found, again;
	struct child *child;
	unsigned int count;

	need_program("lua5.4", "lua5.4");
	assert_non_null(files);
	child = start_lua(*state, "lua5.4");
	assert_int_equal(interpreters__find(files, child->pid, &found), 0);
	count = lua_files__read_count(files);
	assert_in_range(count, 2, 100);
	assert_int_equal(interpreters__find(files, child->pid, &again), 0);
	assert_int_equal(lua_files__read_count(files), count);
	assert_int_equal(interpreters__are_equal(&found, &again), 1);
	interpreters__free(&found);
	interpreters__free(&again);
	lua_files__free(files);
}

static int look(struct lua_files *files, const char *path, struct lua_file *file)
{
	int found = open(path, O_PATH), error = lua_files__find(files, found, file);

	assert_true(found >= 0);
	close(found);
	return error;
}

static void reads_a_file_again_that_has_changed(void **state)
{
	struct stage *stage = *state;
	struct lua_files *files = lua_files__new();
	struct lua_file file;
	const char *path;

	need_program("/usr/bin/lua5.4", "lua5.4");
	assert_non_null(files);
	path = copy_program(stage, "/usr/bin/lua5.4", "lua", NULL, NULL);
	assert_int_equal(look(files, path, &file), 0);
	assert_int_equal(minor_of(&file), 4);
	write_file(path, "#!/bin/sh\n", 10);
	assert_int_equal(look(files, path, &file), 0);
	assert_null(file.family);
	assert_int_equal(lua_files__read_count(files), 2);
	lua_files__free(files);
}

/* An upgrade replaces the file, but the process still runs the old one. */
static void looks_at_the_file_that_runs_not_at_its_successor(void **state)
{
	struct stage *stage = *state;
	struct interpreter interpreter;
	struct child *child;

	need_root();
	need_program("/usr/bin/lua5.3", "lua5.3");
	need_program("/usr/bin/lua5.4", "lua5.4");
	copy_program(stage, "/usr/bin/lua5.3", "lua", NULL, NULL);
	copy_program(stage, "/usr/bin/lua5.4", "new", NULL, NULL);
	child = start_lua(stage, in_folder(stage, "lua"));
	assert_int_equal(rename(in_folder(stage, "new"), in_folder(stage, "lua")), 0);
	identify(child, &interpreter);
	assert_int_equal(minor_of(&interpreter.file), 3);
	free(interpreter.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(identifies_lua_5_1),
		staged(identifies_lua_5_2),
		staged(identifies_lua_5_3),
		staged(identifies_lua_5_4),
		staged(goes_by_content_whatever_the_name),
		staged(finds_the_file_that_was_deleted_since),
		staged(finds_no_lua_in_another_program),
		cmocka_unit_test(says_that_a_process_is_gone),
		staged(tries_all_of_the_minor_version_for_a_patch_that_is_too_new),
		staged(tries_all_of_the_minor_version_without_an_ident),
		staged(takes_a_layout_by_release_that_only_a_release_tells),
		staged(survives_an_ident_without_end),
		cmocka_unit_test(tries_every_layout_that_a_walk_tells_apart),
		staged(covers_the_code_of_lua_5_1),
		staged(covers_the_code_of_lua_5_4),
		staged(finds_every_lua_of_a_process),
		staged(finds_a_luajit_beside_lua),
		staged(reads_no_file_twice),
		staged(reads_a_file_again_that_has_changed),
		staged(looks_at_the_file_that_runs_not_at_its_successor),
	};

	return cmocka_run_group_tests_name("interpreters", tests, NULL, NULL);
}
