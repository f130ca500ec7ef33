/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_runs.h"

#include <stdio.h>
#include <stdlib.h>

#define SHALLOW 24  /* frames: less than the workload's deepest stack */
#define DEEP    512 /* the product's default */

const struct oracle_pace oracle_paces[] = {
	[STEADY] = {"steady", "60000", "20000", DEEP, 18000},
	[CUT] = {"cut", "20000 recursion", NULL, SHALLOW, 6000},
	[HASTY] = {"hasty", "3", NULL, DEEP, 4500},
	[RETURNING] = {"returning", "3 functions_returned", NULL, DEEP, 4500},
	[GROWING] = {"growing", "3 growing", NULL, DEEP, 4500},
	[BLIND] = {"blind", "3 growing", NULL, DEEP, 4500},
	[OLD] = {"old", "3", NULL, DEEP, 4500},
};

static struct target targets[ORACLE_RUNS_MAX];
static size_t target_count;

static const char *output_folder(void)
{
	const char *folder = getenv("OUTPUT");

	return folder && *folder ? folder : ".output";
}

/* `modules`: where the module oracle.so is; NULL: it is built in. */
static void add_of(enum ls_family family, const char *program, const char *modules,
		   const char *what, enum pace pace)
{
	struct target *target = &targets[target_count];

	if (target_count == ORACLE_RUNS_MAX) {
		fprintf(stderr, "more than %d runs\n", ORACLE_RUNS_MAX);
		exit(2);
	}
	snprintf(target->name, sizeof(target->name), "%.22s %s", what, oracle_paces[pace].name);
	snprintf(target->program, sizeof(target->program), "%s", program);
	snprintf(target->modules, sizeof(target->modules), "%s", modules ? modules : "");
	target->family = family;
	target->is_built = !modules;
	target->pace = pace;
	target_count++;
}

static void add(const char *program, const char *modules, const char *what, enum pace pace)
{
	add_of(LS_FAMILY_PUC, program, modules, what, pace);
}

static void add_packages(const char *minor)
{
	char program[128], modules[128], what[32];

	snprintf(modules, sizeof(modules), "%s/tests/oracle/%s", output_folder(), minor);
	snprintf(program, sizeof(program), "lua%s", minor);
	add(program, modules, program, STEADY);
	add(program, modules, program, HASTY);
	add(program, modules, program, CUT);
	add(program, modules, program, OLD);
	snprintf(program, sizeof(program), "%.100s/host", modules);
	snprintf(what, sizeof(what), "liblua%s", minor);
	add(program, modules, what, STEADY);
	add(program, modules, what, HASTY);
}

/* Linked statically, stripped: as tests/hosts/rules.mk and rules.mk here have them built. */
static const struct {
	const char *name;
	bool is_tried_all_ways;
	bool relocates;
} hosts[] = {
	{"5.1.5-gcc", true, false},  {"5.1.5-clang", false, false}, {"5.2.4-gcc", true, false},
	{"5.2.4-lto", false, false}, {"5.3.6-gcc", true, false},    {"5.3.6-small", false, false},
	{"5.4.0-gcc", true, false},  {"5.4.1-gcc", true, false},    {"5.4.2-gcc", true, false},
	{"5.4.4-gcc", true, false},  {"5.4.8-gcc", true, true},     {"5.4.8-clang", true, true},
	{"5.4.8-cxx", false, true},  {"5.4.9-small", false, true},  {"5.5.0-gcc", true, true},
	{"5.5.1-clang", true, true}, {"5.5.1-lto", false, true},    {"5.5.1-O0", false, true},
};

static void add_hosts(void)
{
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		char program[160];

		snprintf(program, sizeof(program), "%s/tests/oracle/hosts/%s", output_folder(),
			 hosts[i].name);
		add(program, NULL, hosts[i].name, STEADY);
		add(program, NULL, hosts[i].name, HASTY);
		if (!hosts[i].is_tried_all_ways)
			continue;
		add(program, NULL, hosts[i].name, RETURNING);
		add(program, NULL, hosts[i].name, GROWING);
		if (hosts[i].relocates)
			add(program, NULL, hosts[i].name, BLIND);
	}
}

/* As tests/oracle/rules.mk has them built. */
static const char *const luajits[] = {"luajit_rolling-gcc",    "luajit_rolling-clang",
				      "luajit_rolling-shared", "luajit_rolling-nojit",
				      "luajit_rolling-lua52",  "luajit_openresty-gcc"};

static const char *const narrow_luajits[] = {"luajit_rolling-gcc32", "luajit_rolling-clang32",
					     "luajit_rolling-nojit32", "luajit_openresty-gcc32",
					     "luajit_2.0-gcc32"};

static void add_built_luajit(enum ls_family family, const char *const *names, size_t count,
			     enum pace pace)
{
	char program[160];

	for (size_t i = 0; i < count; i++) {
		snprintf(program, sizeof(program), "%s/tests/oracle/hosts/%s", output_folder(),
			 names[i]);
		add_of(family, program, NULL, names[i], pace);
	}
}

/*
 * Debian's and others, by which the interpreter is tested: the workload switches the compiler off.
 */
static void add_luajit(void)
{
	static const enum pace all[] = {STEADY, HASTY, CUT, RETURNING, GROWING, OLD};
	char modules[128];

	snprintf(modules, sizeof(modules), "%s/tests/oracle/luajit", output_folder());
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		add_of(LS_FAMILY_LUAJIT, "luajit", modules, "luajit", all[i]);
	for (size_t i = 0; i < 2; i++) {
		add_built_luajit(LS_FAMILY_LUAJIT, luajits, sizeof(luajits) / sizeof(luajits[0]),
				 all[i]);
		add_built_luajit(LS_FAMILY_LUAJIT32, narrow_luajits,
				 sizeof(narrow_luajits) / sizeof(narrow_luajits[0]), all[i]);
	}
	for (size_t i = 2; i < sizeof(all) / sizeof(all[0]); i++)
		add_built_luajit(LS_FAMILY_LUAJIT32, narrow_luajits, 1, all[i]);
}

/* As tests/oracle/rules.mk has them built. */
static void add_luau(void)
{
	static const enum pace paces_of_luau[] = {STEADY, HASTY, CUT, RETURNING, GROWING, OLD};
	static const char *const luaus[] = {
		"luau_736-gcc",    "luau_577-gcc",     "luau_516-gcc",   "luau_635-gcc",
		"luau_690-gcc",    "luau_727-longjmp", "luau_736-clang", "luau_736-vector4",
		"luau_736-native", "luau_736-sandbox", "luau_736-grown"};
	char program[160];

	for (size_t i = 0; i < sizeof(luaus) / sizeof(luaus[0]); i++) {
		snprintf(program, sizeof(program), "%s/tests/oracle/hosts/%s", output_folder(),
			 luaus[i]);
		for (size_t j = 0; j < sizeof(paces_of_luau) / sizeof(paces_of_luau[0]); j++)
			/* Older releases leave other things where results are looked for. */
			if (!i || j < 2 || (i == 1 && paces_of_luau[j] == RETURNING))
				add_of(LS_FAMILY_LUAU, program, NULL, luaus[i], paces_of_luau[j]);
	}
}

const struct target *oracle_runs__all(size_t *count)
{
	static const char *const minors[] = {"5.1", "5.2", "5.3", "5.4"};

	target_count = 0;
	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++)
		add_packages(minors[i]);
	add_hosts();
	add_luajit();
	add_luau();
	*count = target_count;
	return targets;
}
