/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of definitions in all Lua files that this machine has, against the variables and fields
 * that compiled code stores the functions in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "corpus.h"
#include "skip.h"

#define NAMED_NEEDED 0.98 /* of functions that bytecode gives a name to */
#define FILES_NEEDED 50

struct counts {
	size_t files, all, alone; /* functions */
	size_t both, only_source, only_bytecode, wrong;
};

/* What both call a function: the last part of "M.a:b", as it is in bytecode. */
static const char *last_part(const char *name)
{
	const char *part = name;

	for (const char *at = name; *at; at++)
		if (*at == '.' || *at == ':')
			part = at + 1;
	return part;
}

static bool is_same(const char *name, const char *stored)
{
	size_t length = strlen(name);
	const char *key = strchr(name, '[');

	/* t["a b"] */
	if (key && key[1] == '"' && length == (size_t)(key - name) + strlen(stored) + 4)
		return !strncmp(key + 2, stored, strlen(stored));
	return !strcmp(last_part(name), stored);
}

static void compare(struct counts *counts, const char *file, uint32_t first, uint32_t last,
		    const char *name, const char *stored)
{
	counts->alone++;
	if (!name && stored)
		counts->only_bytecode++;
	if (name && !stored)
		counts->only_source++;
	if (!name || !stored)
		return;
	counts->both++;
	/* A variable as key is no name in bytecode; what was found belongs to something else. */
	if (is_same(name, stored) || name[strlen(name) - 1] == ']')
		return;
	counts->wrong++;
	print_message("%s:%u-%u: '%s' in the source, '%s' in bytecode\n", file, first, last, name,
		      stored);
}

/* Takes in a line of definitions_in_bytecode.py. */
static void take_line(struct counts *counts, const char *line, char file[1024],
		      struct definitions **definitions)
{
	char stored[256];
	uint32_t first, last;
	size_t functions;

	if (sscanf(line, "file\t%1023[^\t]\t%zu", file, &functions) == 2) {
		definitions__free(*definitions);
		*definitions = functions ? corpus__definitions(file) : NULL;
		counts->files += functions != 0;
		counts->all += functions;
		if (functions && !*definitions)
			fail_msg("compiles, but has no definitions: %s", file);
		return;
	}
	if (sscanf(line, "%u\t%u\t%255[^\n]", &first, &last, stored) != 3)
		fail_msg("%s: not a line of a function: %s", file, line);
	compare(counts, file, first, last, definitions__name(*definitions, first, last),
		strcmp(stored, "-") ? stored : NULL);
}

static void definitions_are_what_compilers_store(void **state)
{
	char list[] = "/tmp/definitions-XXXXXX", command[128], line[2048], file[1024] = "";
	struct definitions *definitions = NULL;
	struct counts counts = {};
	int fd = mkstemp(list);
	FILE *listing;

	(void)state;
	need_program("luac5.4", "lua5.4");
	need_program("python3", "python3");
	assert_true(fd >= 0);
	close(fd);
	corpus__list(list);
	snprintf(command, sizeof(command), "python3 tests/names/definitions_in_bytecode.py <%s",
		 list);
	listing = popen(command, "re");
	assert_non_null(listing);
	while (fgets(line, sizeof(line), listing))
		take_line(&counts, line, file, &definitions);
	definitions__free(definitions);
	assert_int_equal(pclose(listing), 0);
	unlink(list);
	print_message("%zu files, %zu functions, %zu of them alone on their lines: %zu named by "
		      "both, %zu by the source only, %zu by bytecode only, %zu wrong\n",
		      counts.files, counts.all, counts.alone, counts.both, counts.only_source,
		      counts.only_bytecode, counts.wrong);
	assert_in_range(counts.files, FILES_NEEDED, SIZE_MAX);
	assert_int_equal(counts.wrong, 0);
	assert_true((double)counts.both >=
		    NAMED_NEEDED * (double)(counts.both + counts.only_bytecode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions_are_what_compilers_store),
	};

	return cmocka_run_group_tests_name("definitions corpus", tests, NULL, NULL);
}
