/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "attacks.h"

#define LUA          "/usr/bin/lua5.4"
#define MAPPINGS     "65000" /* fewer than vm.max_map_count, 65,530 */
#define BIG_FILES    40
#define SLEEPERS     "3000"
#define USER_ID      "12345"
#define HONEST_FIRST "honest"

static void aim_at(struct siege *siege, struct child *attacker, const char *text)
{
	if (siege__await(siege, attacker, text))
		siege->target = attacker;
}

static const char *percent(const struct siege *siege)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", siege->percent);
	return text;
}

/* ---- files that are expensive to read, mapped by a process that does nothing else */

static void map_bomb(struct siege *siege, const char *kind)
{
	char name[64];

	snprintf(name, sizeof(name), "bomb-%s", kind);
	aim_at(siege,
	       attack_with(siege, "mapper", percent(siege), siege__make_bomb(siege, kind, name)),
	       "mapped");
}

static void map_frames(struct siege *siege)
{
	map_bomb(siege, "frames");
}

static void map_letters(struct siege *siege)
{
	map_bomb(siege, "letters");
}

static void map_calls(struct siege *siege)
{
	map_bomb(siege, "calls");
}

static void map_segments(struct siege *siege)
{
	map_bomb(siege, "segments");
}

static void map_names(struct siege *siege)
{
	map_bomb(siege, "names");
}

static void map_sparse(struct siege *siege)
{
	map_bomb(siege, "sparse");
}

static void map_plain(struct siege *siege)
{
	map_bomb(siege, "plain");
}

static void map_counts(struct siege *siege)
{
	map_bomb(siege, "overlap");
	map_bomb(siege, "phnum");
	map_bomb(siege, "shnum");
}

/* Four processes map ten each. */
static void map_big_files(struct siege *siege)
{
	const char *words[12] = {percent(siege)};
	char name[64];

	for (int i = 0; i < BIG_FILES; i++) {
		snprintf(name, sizeof(name), "big-%d", i);
		words[1 + i % 10] = siege__make_bomb(siege, "big", name);
		if (i % 10 == 9)
			aim_at(siege, siege__attack(siege, "mapper", words), "mapped");
	}
}

/* C functions whose symbols are expensive to read, called by a script of low priority. */
static void call_modules(struct siege *siege, const char *kind, int count)
{
	static const char script[] =
		"local fs = {} for i = 1, #arg do\n"
		"	fs[i] = assert(package.loadlib(arg[i], 'luaopen_module'))\n"
		"end\n"
		"print('called') io.stdout:flush()\n"
		"while true do for i = 1, #fs do fs[i]() end end\n";
	const char *words[12] = {"-n19", LUA, siege__field(siege, "modules.lua")};
	char name[64];

	write_text(siege->stage, "field/modules.lua", script);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s-%d.so", kind, i);
		words[3 + i] = siege__make_bomb(siege, kind, name);
	}
	aim_at(siege, siege__attack(siege, "/usr/bin/nice", words), "called");
}

static void call_strtabs(struct siege *siege)
{
	call_modules(siege, "strtab", 3);
}

static void call_symbols(struct siege *siege)
{
	call_modules(siege, "symbols", 1);
}

static void call_mangled(struct siege *siege)
{
	call_modules(siege, "mangled", 1);
}

/* ---- files and memory that never come */

static const char *mount_point(struct siege *siege, const char *name)
{
	const char *path = siege__field(siege, name);

	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(chmod(path, 0777), 0);
	return path;
}

static void map_trap(struct siege *siege, const char *kind, const char *name)
{
	aim_at(siege,
	       attack_as_root(siege, "trapped_file", kind, siege__fuse_device(siege),
			      mount_point(siege, name), LUA, USER_ID),
	       "mapped");
}

static void map_unreadable(struct siege *siege)
{
	map_trap(siege, "read", "trap-read");
}

static void map_unopenable(struct siege *siege)
{
	map_trap(siege, "open", "trap-open");
}

static void map_without_attributes(struct siege *siege)
{
	map_trap(siege, "getattr", "trap-getattr");
}

static void map_in_namespace(struct siege *siege)
{
	aim_at(siege,
	       attack_with(siege, "trapped_file", "read", siege__fuse_device(siege),
			   mount_point(siege, "trap-own"), LUA),
	       "mapped");
}

static void hide_lines_by_own_mount(struct siege *siege)
{
	aim_at(siege,
	       attack_with(siege, "trapped_lua", "fuse", siege__fuse_device(siege),
			   mount_point(siege, "lines-own")),
	       HONEST_FIRST);
}

static void hide_lines_by_mount(struct siege *siege)
{
	aim_at(siege,
	       attack_as_root(siege, "trapped_lua", "fuse", siege__fuse_device(siege),
			      mount_point(siege, "lines"), USER_ID),
	       HONEST_FIRST);
}

/* Users do not need root for that if vm.unprivileged_userfaultfd is 1. */
static void hide_lines_by_userfaultfd(struct siege *siege)
{
	aim_at(siege, attack_as_root(siege, "trapped_lua", "userfault", "-", "-", USER_ID),
	       HONEST_FIRST);
}

/* A script that claims to come from a file which luaspy can look for, but not read or not find. */
static void load_from_trap(struct siege *siege, const char *kind)
{
	static const char script[] =
		"load('function f()\\nfor i = 1, 1e6 do end\\nend\\n' ..\n"
		"	'print(\"loaded\") io.stdout:flush() while true do f() end',\n"
		"	'@' .. arg[1] .. '/file')()\n";
	const char *words[5] = {"-n19", LUA, siege__field(siege, "trapped.lua")};
	char name[64];

	snprintf(name, sizeof(name), "source-%s", kind);
	map_trap(siege, kind, name);
	write_text(siege->stage, "field/trapped.lua", script);
	words[3] = siege__field(siege, name);
	aim_at(siege, siege__attack(siege, "/usr/bin/nice", words), "loaded");
}

static void load_from_unreadable(struct siege *siege)
{
	load_from_trap(siege, "read");
}

static void load_from_nowhere(struct siege *siege)
{
	load_from_trap(siege, "all");
}

/* ---- the rest */

static void hold_leases(struct siege *siege)
{
	aim_at(siege, attack_with(siege, "lease", "3", siege__field(siege, "")), "mapped");
}

static void map_without_end(struct siege *siege)
{
	aim_at(siege, attack_with(siege, "mappings", MAPPINGS), "mapped");
}

static void rewrite(struct siege *siege)
{
	aim_at(siege, attack_with(siege, "rewriter", siege__field(siege, "rewritten"), LUA),
	       "mapped");
}

static void come_in_crowds(struct siege *siege)
{
	aim_at(siege, attack_with(siege, "crowd", "1000000", siege__field(siege, "")), "begun");
}

static void have_sleepers(struct siege *siege)
{
	aim_at(siege, attack_with(siege, "sleepers", percent(siege), SLEEPERS, LUA), HONEST_FIRST);
}

static void have_odd_names(struct siege *siege)
{
	aim_at(siege, attack_with(siege, "odd_names", LUA, siege__field(siege, "")), "begun");
}

static void plant_links(struct siege *siege)
{
	aim_at(siege, attack_with(siege, "planted", siege__field(siege, "")), "mapped");
}

const struct attack attacks[] = {
	{.name = "withstands_a_cie_of_two_million_instructions",
	 .launch = map_frames,
	 .named = "mapper"},
	{.name = "withstands_cies_of_a_million_letters", .launch = map_letters, .named = "mapper"},
	{.name = "withstands_functions_that_all_call_each_other", .launch = map_calls},
	{.name = "withstands_sixty_thousand_segments", .launch = map_segments, .named = "mapper"},
	{.name = "withstands_names_of_sections_without_an_end",
	 .launch = map_names,
	 .named = "mapper"},
	{.name = "withstands_a_sparse_gigabyte_with_lua_in_it", .launch = map_sparse},
	{.name = "withstands_a_sparse_gigabyte_without", .launch = map_plain},
	{.name = "withstands_counts_at_their_maxima", .launch = map_counts},
	{.name = "withstands_forty_files_of_fifty_megabytes",
	 .launch = map_big_files,
	 .spends_grant = true},
	{.name = "withstands_three_gigabytes_of_symbol_names",
	 .launch = call_strtabs,
	 .named = "lua5.4"},
	{.name = "withstands_two_million_symbols_of_one_address", .launch = call_symbols},
	{.name = "withstands_a_symbol_that_cannot_be_demangled",
	 .launch = call_mangled,
	 .named = "lua5.4"},
	{.name = "withstands_a_file_that_is_never_read",
	 .launch = map_unreadable,
	 .named = "trapped_file"},
	{.name = "withstands_a_file_that_is_never_opened",
	 .launch = map_unopenable,
	 .named = "trapped_file"},
	{.name = "withstands_a_file_that_never_has_attributes",
	 .launch = map_without_attributes,
	 .named = "trapped_file"},
	{.name = "withstands_a_file_of_another_user_namespace", .launch = map_in_namespace},
	{.name = "withstands_lines_in_memory_that_its_owner_waits_for",
	 .launch = hide_lines_by_own_mount,
	 .named = "trapped_lua"},
	{.name = "withstands_lines_in_memory_that_never_comes",
	 .launch = hide_lines_by_mount,
	 .named = "trapped_lua",
	 .holds_worker = true},
	{.name = "withstands_lines_behind_userfaultfd",
	 .launch = hide_lines_by_userfaultfd,
	 .named = "trapped_lua"},
	{.name = "withstands_source_text_that_is_never_read",
	 .launch = load_from_unreadable,
	 .named = "lua5.4"},
	{.name = "withstands_source_text_that_is_never_found",
	 .launch = load_from_nowhere,
	 .named = "lua5.4"},
	{.name = "withstands_leases_that_are_not_given_back", .launch = hold_leases},
	{.name = "withstands_mappings_without_end", .launch = map_without_end, .named = "mappings"},
	{.name = "withstands_a_file_that_turns_into_lua_and_back", .launch = rewrite},
	{.name = "withstands_crowds_of_executables", .launch = come_in_crowds},
	{.name = "withstands_thousands_of_sleeping_threads", .launch = have_sleepers},
	{.name = "withstands_names_made_to_mislead", .launch = have_odd_names},
	{.name = "withstands_links_where_files_were", .launch = plant_links},
};

const int attack_count = sizeof(attacks) / sizeof(attacks[0]);

void attacks__strike(struct siege *siege)
{
	for (int i = 0; i < siege->attacker_count; i++)
		if (!siege->attackers[i]->is_over &&
		    child__has_said(siege->stage, siege->attackers[i], HONEST_FIRST)) {
			child__tell(siege->attackers[i], "now");
			siege__await(siege, siege->attackers[i], "trapped");
		}
}
