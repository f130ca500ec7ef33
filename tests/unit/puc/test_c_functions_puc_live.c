/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On the interpreters of this machine: what the script says of its functions against their names.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "puc/family_puc.h"
#include "puc/layout_puc.h"
#include "symbols/c_functions.h"
#include "skip.h"

/* An interpreter that waits in io.read() and has told where its functions are. */
struct interpreter {
	pid_t pid;
	int input;
	FILE *output;
};

/*
 * Name and address; behind those that are closures in every release a "c". An iterator of gmatch()
 * is a C function that only a table of this script names; a function in Lua is looked up by its
 * prototype. All is defined before the first line is printed, at which the names are read.
 */
static const char script[] = "local function show(name, f, kind)\n"
			     "	print(name, tostring(f):match('0x%x+'), kind or '')\n"
			     "end\n"
			     "function in_lua() end\n"
			     "host = {iterator = string.gmatch('a', 'a')}\n"
			     "local file = getmetatable(io.stdout)\n"
			     "show('print', print)\n"
			     "show('string.format', string.format)\n"
			     "show('table.sort', table.sort)\n"
			     "show('coroutine.resume', coroutine.resume)\n"
			     "show('io.write', io.write)\n"
			     "show('math.floor', math.floor)\n"
			     "show('math.fmod', math.fmod)\n"
			     "show('string.gmatch', string.gmatch)\n"
			     "show('require', require, 'c')\n"
			     "show('host.iterator', host.iterator, 'c')\n"
			     "show('FILE*:read', file.__index.read)\n"
			     "show('FILE*.__gc', file.__gc)\n"
			     "show('in_lua', in_lua, 'c')\n"
			     "print('end')\n"
			     "io.stdout:flush()\n"
			     "io.read()\n";

static void start(struct interpreter *interpreter, const char *program)
{
	int input[2], output[2];

	assert_int_equal(pipe(input), 0);
	assert_int_equal(pipe(output), 0);
	interpreter->pid = fork();
	if (interpreter->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(input[0], 0);
		dup2(output[1], 1);
		close(input[1]);
		execlp(program, program, "-e", script, (char *)NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	interpreter->input = input[1];
	interpreter->output = fdopen(output[0], "r");
	assert_non_null(interpreter->output);
}

static void stop(struct interpreter *interpreter)
{
	kill(interpreter->pid, SIGKILL);
	waitpid(interpreter->pid, NULL, 0);
	close(interpreter->input);
	fclose(interpreter->output);
}

/* The newest of a minor version. */
static const struct ls_puc_layout *layout_of(int minor)
{
	const struct ls_puc_layout *layout = NULL;

	for (size_t i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor == minor)
			layout = &layouts_puc[i].offsets;
	assert_non_null(layout);
	return layout;
}

static uint64_t read_pointer(const struct target_memory *memory, uint64_t address)
{
	uint64_t pointer;

	return target_memory__read(memory, address, &pointer, sizeof(pointer)) ? 0 : pointer;
}

static bool reaches_its_base(const struct target_memory *memory, const struct ls_puc_layout *layout,
			     uint64_t state)
{
	uint64_t ci = read_pointer(memory, state + layout->state_ci);

	if (layout->ci_is_array) {
		uint64_t base = read_pointer(memory, state + layout->state_base_ci);

		return base && ci >= base && (ci - base) % layout->ci_size == 0 &&
		       (ci - base) / layout->ci_size < 200;
	}
	for (int i = 0; i < 200 && ci; i++) {
		if (ci == state + layout->state_base_ci)
			return true;
		ci = read_pointer(memory, ci + layout->ci_previous);
	}
	return false;
}

#define PIECE (16ull << 20)

static uint64_t scan(const struct target_memory *memory, const struct ls_puc_layout *layout,
		     uint64_t start, uint64_t end)
{
	size_t size = end - start < PIECE ? end - start : PIECE;
	unsigned char *bytes = malloc(size);
	ssize_t count = target_memory__read_some(memory, start, bytes, size);
	uint64_t found = 0;

	for (ssize_t i = 0; i + 256 <= count && !found; i += 8) {
		uint64_t global;

		memcpy(&global, bytes + i + layout->state_global, sizeof(global));
		if (bytes[i + 8] == 8 && global &&
		    read_pointer(memory, global + layout->global_main_thread) ==
			    start + (uint64_t)i &&
		    reaches_its_base(memory, layout, start + (uint64_t)i))
			found = start + (uint64_t)i;
	}
	free(bytes);
	return found;
}

static uint64_t find_main_state(const struct target_memory *memory,
				const struct ls_puc_layout *layout)
{
	char path[32], line[512];
	uint64_t start, end, found = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", memory->pid);
	maps = fopen(path, "r");
	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " rw", &start, &end) == 2 &&
		    strstr(line, " rw"))
			for (; start < end && !found; start += PIECE)
				found = scan(memory, layout, start, end);
	fclose(maps);
	return found;
}

/*
 * Reads names and addresses from `lines` and compares them with what is found in the process. How
 * many are equal, or -errno.
 */
static int check_names(pid_t pid, FILE *lines, int minor)
{
	struct target_memory memory = {.pid = pid};
	const struct ls_puc_layout *layout = layout_of(minor);
	struct c_function_names *functions = c_function_names__new();
	char line[256], name[64], kind[8];
	uint64_t address;
	int count = 0, equal = 0, error = 0;

	assert_non_null(functions);
	while (fgets(line, sizeof(line), lines) && strcmp(line, "end\n") != 0) {
		const char *found;

		if (count++ == 0)
			error = c_functions__read(functions, &table_ops_puc, &memory, layout,
						  find_main_state(&memory, layout));
		*kind = '\0';
		if (sscanf(line, "%63s %" SCNx64 " %7s", name, &address, kind) < 2)
			continue;
		/* What tostring() shows is the closure, or the light function itself. */
		if (minor == 1 || *kind)
			address = read_pointer(&memory, address + layout->closure_function);
		found = c_function_names__get(functions, address);
		if (!found)
			found = "(none)";
		if (strcmp(found, name) == 0)
			equal++;
		else
			print_error("'%s' is '%s'\n", name, found);
	}
	c_function_names__free(functions);
	return error ? error : equal;
}

static void check_interpreter(const char *program, int minor)
{
	struct interpreter interpreter;
	int equal;

	start(&interpreter, program);
	equal = check_names(interpreter.pid, interpreter.output, minor);
	stop(&interpreter);
	assert_int_equal(equal, 13);
}

static void names_functions_of_5_1(void **state)
{
	(void)state;
	need_program("lua5.1", "lua5.1");
	check_interpreter("lua5.1", 1);
}

static void names_functions_of_5_2(void **state)
{
	(void)state;
	need_program("lua5.2", "lua5.2");
	check_interpreter("lua5.2", 2);
}

static void names_functions_of_5_3(void **state)
{
	(void)state;
	need_program("lua5.3", "lua5.3");
	check_interpreter("lua5.3", 3);
}

static void names_functions_of_5_4(void **state)
{
	(void)state;
	need_program("lua5.4", "lua5.4");
	check_interpreter("lua5.4", 4);
}

/* One line for each function: redis-cli prints the strings of an array so, if it is no terminal. */
#define REDIS_SCRIPT                                                                               \
	"local names, lines = {'redis.call', 'redis.pcall', 'redis.sha1hex', 'cjson.encode', "     \
	"'struct.pack', 'string.format', 'table.sort'}, {} "                                       \
	"for _, name in ipairs(names) do "                                                         \
	"local t, k = name:match('(.*)%.(.*)') "                                                   \
	"lines[#lines + 1] = name .. ' ' .. tostring(_G[t][k]):match('0x%x+') "                    \
	"end return lines"

static pid_t start_redis(const char *folder)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(folder) || !freopen("/dev/null", "w", stdout))
			_exit(127);
		execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", "socket",
		       "--save", "", (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Redis has tables of its own making, with a field more. */
static void names_functions_of_redis(void **state)
{
	char folder[] = "/tmp/redis-test-XXXXXX", path[64], command[1024];
	FILE *lines;
	pid_t pid;
	int equal;

	(void)state;
	need_program("redis-server", "redis-server");
	need_program("redis-cli", "redis-tools");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/socket", folder);
	pid = start_redis(folder);
	for (int i = 0; i < 500 && access(path, F_OK) != 0; i++)
		usleep(10000);
	snprintf(command, sizeof(command), "redis-cli -s %s eval \"%s\" 0", path, REDIS_SCRIPT);
	lines = popen(command, "r");
	assert_non_null(lines);
	equal = check_names(pid, lines, 1);
	pclose(lines);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
	rmdir(folder);
	assert_int_equal(equal, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_functions_of_5_1),
		cmocka_unit_test(names_functions_of_5_2),
		cmocka_unit_test(names_functions_of_5_3),
		cmocka_unit_test(names_functions_of_5_4),
		cmocka_unit_test(names_functions_of_redis),
	};

	return cmocka_run_group_tests_name("c_functions_puc_live", tests, NULL, NULL);
}
