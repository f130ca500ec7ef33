/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Real interpreters load all Lua files that this machine has. What their bytecode calls the
 * functions must be what the source text calls them: no name may differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corpus.h"
#include "puc/definition_puc.h"
#include "puc/layout_puc.h"
#include "skip.h"

#define FILES_NEEDED 50
#define NAMED_NEEDED 0.9 /* of the functions that the source names */
#define NESTED_MAX   16384

struct counts {
	size_t files, functions; /* those that the text defines alone on their lines */
	size_t both;             /* named by both, and the same */
	size_t spelled_out;      /* likewise, but "function M.f(self)" or "_ENV.f" in the text */
	size_t only_source, only_bytecode, wrong;
};

struct target {
	pid_t pid;
	FILE *input, *output;
	struct target_memory memory;
	const struct ls_puc_layout *layout;
	const char *file;
	struct definitions *definitions;
	struct counts counts;
};

static uint64_t read_number(const struct target *target, uint64_t address, size_t size)
{
	uint64_t number = 0;

	assert_int_equal(target_memory__read(&target->memory, address, &number, size), 0);
	return number;
}

static void start(struct target *target, const char *program, const char *list)
{
	int input[2], output[2];

	assert_int_equal(pipe(input), 0);
	assert_int_equal(pipe(output), 0);
	target->pid = fork();
	assert_int_not_equal(target->pid, -1);
	if (target->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		close(input[0]);
		close(input[1]);
		close(output[0]);
		close(output[1]);
		execlp(program, program, "tests/names/load_all.lua", list, NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	target->memory.pid = target->pid;
	target->input = fdopen(input[1], "w");
	target->output = fdopen(output[0], "r");
	assert_non_null(target->input);
	assert_non_null(target->output);
}

static void stop(struct target *target)
{
	fclose(target->input);
	fclose(target->output);
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
}

/*
 * "function M.f(self)" makes what "function M:f()" makes (the manual, 3.4.11), and "_ENV.f = x"
 * what "f = x" makes (3.2).
 */
static bool is_spelled_out(const char *name, const char *stored)
{
	const char *colon = strrchr(stored, ':');
	size_t before = colon ? (size_t)(colon - stored) : 0;

	if (!strncmp(name, "_ENV.", 5) && !strcmp(name + 5, stored))
		return true;
	return colon && strlen(name) == strlen(stored) && !strncmp(name, stored, before) &&
	       name[before] == '.' && !strcmp(name + before + 1, colon + 1);
}

static void compare(struct target *target, uint32_t first, uint32_t last, const char *stored)
{
	const char *name = definitions__name(target->definitions, first, last);
	struct counts *counts = &target->counts;

	counts->functions++;
	if (!name || !stored) {
		counts->only_source += name != NULL;
		counts->only_bytecode += stored != NULL;
	} else if (!strcmp(name, stored)) {
		counts->both++;
	} else if (is_spelled_out(name, stored)) {
		counts->spelled_out++;
	} else {
		counts->wrong++;
		print_message("%s:%u-%u: '%s' in the source, '%s' in bytecode\n", target->file,
			      first, last, name, stored);
	}
}

static const char *find_name(const struct nested_definitions *found, uint64_t address)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].address == address)
			return found->items[i].name;
	return NULL;
}

static void compare_nested(struct target *target, uint64_t parent, int depth)
{
	const struct ls_puc_layout *layout = target->layout;
	uint64_t count = read_number(target, parent + layout->proto_nested_count, 4);
	uint64_t nested = read_number(target, parent + layout->proto_nested, 8);
	struct nested_definitions found = {};

	assert_in_range(depth, 0, 200);
	assert_in_range(count, 0, NESTED_MAX);
	assert_int_equal(definition_puc__read(&target->memory, layout, parent, &found), 0);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t proto = read_number(target, nested + 8 * i, 8);

		compare(target,
			(uint32_t)read_number(target, proto + layout->proto_line_defined, 4),
			(uint32_t)read_number(target, proto + layout->proto_last_line_defined, 4),
			find_name(&found, proto));
		compare_nested(target, proto, depth + 1);
	}
	free(found.items);
}

static void compare_files(struct target *target)
{
	char line[4096], file[4096];
	unsigned long long closure;

	while (fgets(line, sizeof(line), target->output) && strcmp(line, "ready\n") != 0) {
		assert_int_equal(sscanf(line, "chunk\t%4095[^\t]\t%llx", file, &closure), 2);
		target->file = file;
		target->definitions = corpus__definitions(file);
		if (!target->definitions)
			continue;
		/* Their closures are still being made while the first are looked at: none moves. */
		compare_nested(target,
			       read_number(target, closure + target->layout->closure_proto, 8), 0);
		definitions__free(target->definitions);
		target->counts.files++;
	}
	assert_string_equal(line, "ready\n");
}

static void check_interpreter(const char *program, int minor, int patch)
{
	static struct target the_target; /* a failed assertion frees nothing */
	struct target *target = &the_target;
	char list[] = "/tmp/definitions-XXXXXX";
	int fd = mkstemp(list);
	const struct counts *counts = &target->counts;

	assert_true(fd >= 0);
	close(fd);
	corpus__list(list);
	memset(target, 0, sizeof(*target));
	for (size_t i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor == minor && layouts_puc[i].first_patch <= patch &&
		    layouts_puc[i].last_patch >= patch)
			target->layout = &layouts_puc[i].offsets;
	assert_non_null(target->layout);
	start(target, program, list);
	compare_files(target);
	stop(target);
	unlink(list);
	print_message(
		"%s: %zu files, %zu functions: %zu named by both, %zu more with 'self' or _ENV "
		"spelled out, %zu by the source only, %zu by bytecode only, %zu wrong\n",
		program, counts->files, counts->functions, counts->both, counts->spelled_out,
		counts->only_source, counts->only_bytecode, counts->wrong);
	assert_in_range(counts->files, FILES_NEEDED, SIZE_MAX);
	assert_int_equal(counts->wrong, 0);
	assert_true((double)(counts->both + counts->spelled_out) >=
		    NAMED_NEEDED *
			    (double)(counts->both + counts->spelled_out + counts->only_source));
}

static void check_host(int minor, int patch)
{
	const char *folder = getenv("OUTPUT");
	char host[256];

	snprintf(host, sizeof(host), "%s/hosts/5.%d.%d-gcc", folder && *folder ? folder : ".output",
		 minor, patch);
	need_host(host);
	check_interpreter(host, minor, patch);
}

static void names_functions_of_5_1_as_their_source_does(void **state)
{
	(void)state;
	need_program("lua5.1", "lua5.1");
	check_interpreter("lua5.1", 1, 5);
}

static void names_functions_of_5_2_as_their_source_does(void **state)
{
	(void)state;
	need_program("lua5.2", "lua5.2");
	check_interpreter("lua5.2", 2, 4);
}

static void names_functions_of_5_3_as_their_source_does(void **state)
{
	(void)state;
	need_program("lua5.3", "lua5.3");
	check_interpreter("lua5.3", 3, 6);
}

static void names_functions_of_5_4_as_their_source_does(void **state)
{
	(void)state;
	check_host(4, 0);
	check_host(4, 2);
	check_host(4, 9);
}

static void names_functions_of_5_5_as_their_source_does(void **state)
{
	(void)state;
	check_host(5, 0);
	check_host(5, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_functions_of_5_1_as_their_source_does),
		cmocka_unit_test(names_functions_of_5_2_as_their_source_does),
		cmocka_unit_test(names_functions_of_5_3_as_their_source_does),
		cmocka_unit_test(names_functions_of_5_4_as_their_source_does),
		cmocka_unit_test(names_functions_of_5_5_as_their_source_does),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("definition_puc", tests, NULL, NULL);
}
