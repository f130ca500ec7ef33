/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/time_budget.h"
#include "siege.h"
#include "system/processor_speed.h"

#define CANNOT        77 /* tests/programs/attacks/parts/burning.h */
#define PATIENCE      20
#define WORDS_MAX     16
#define PAUSE_SECONDS 0.02
#define HONEST        "honest"
#define ELDER_SECONDS "1.5" /* of CPU time */

/* Works for as much CPU time as it is told to, and says so. */
static const char honest_script[] =
	"local function work(seconds)\n"
	"	local stop = os.clock() + seconds\n"
	"	while os.clock() < stop do for i = 1, 10000 do end end\n"
	"end\n"
	"print('ready') io.stdout:flush()\n"
	"for seconds in io.lines() do work(tonumber(seconds)) print('worked') io.stdout:flush() end\n";

/* Works for as much CPU time as it is told to, nearly always 100 functions deep. */
static const char elder_script[] =
	"local function work(stop)\n"
	"	while os.clock() < stop do for i = 1, 10000 do end end\n"
	"end\n"
	"local tower = { 'local f0 = ...' }\n"
	"for i = 1, 98 do\n"
	"	local call = 'local function f%d(stop) f%d(stop) return end'\n"
	"	tower[#tower + 1] = call:format(i, i - 1)\n"
	"end\n"
	"tower[#tower + 1] = 'return f98'\n"
	"local descend = load(table.concat(tower, '\\n'), '@tower.lua')(work)\n"
	"print('ready') io.stdout:flush()\n"
	"local stop = os.clock() + io.read('n')\n"
	"while os.clock() < stop do descend(os.clock() + 0.001) end\n"
	"io.read('a')\n";

static void stop_watching(struct siege *siege)
{
	if (!siege->is_watching)
		return;
	siege->is_watching = 0;
	pthread_join(siege->watcher, NULL);
}

int siege__open(void **state)
{
	struct siege *siege = calloc(1, sizeof(*siege));
	void *stage = NULL;

	if (!siege || stage__open(&stage)) {
		free(siege);
		return -1;
	}
	siege->attack = *state;
	siege->stage = stage;
	siege->percent = 10;
	siege->cost = stage__own(siege->stage, calloc(1, sizeof(*siege->cost)), free);
	*state = siege;
	return chmod(in_folder(siege->stage, ""), 0755) ||
	       mkdir(in_folder(siege->stage, "field"), 0777) ||
	       chown(in_folder(siege->stage, "field"), SIEGE_USER, SIEGE_USER);
}

/* A hung luaspy waits for the attackers, so they have to die first. */
int siege__close(void **state)
{
	struct siege *siege = *state;
	void *stage = siege->stage;

	for (int i = 0; i < siege->attacker_count; i++)
		if (!siege->attackers[i]->is_over)
			kill(siege->attackers[i]->pid, SIGKILL);
	stop_watching(siege);
	stage__close(&stage);
	free(siege);
	return 0;
}

/* Copies a path, since many are in use at once. */
static const char *keep(struct siege *siege, const char *path)
{
	return stage__own(siege->stage, strdup(path), free);
}

const char *siege__field(struct siege *siege, const char *name)
{
	char inside[256];

	snprintf(inside, sizeof(inside), "field/%s", name);
	return keep(siege, in_folder(siege->stage, inside));
}

/* Others may have no access to the folder of built programs. With a path, no copy is needed. */
static const char *copy_program(struct siege *siege, const char *program)
{
	const char *path = keep(siege, in_folder(siege->stage, program));
	char built[64];
	char *content;
	size_t size;

	if (strchr(program, '/'))
		return program;
	if (!access(path, X_OK))
		return path;
	snprintf(built, sizeof(built), "attacks/%s", program);
	content = read_file(built_program(built), &size);
	write_file(path, content, size);
	free(content);
	assert_return_code(chmod(path, 0755), errno);
	return path;
}

static struct child *start_attacker(struct siege *siege, const char *const *first,
				    const char *program, const char *const *words)
{
	const char *all[WORDS_MAX] = {"env", "-C", siege__field(siege, "")};
	int count = 3;

	while (*first)
		all[count++] = *first++;
	all[count++] = copy_program(siege, program);
	while (*words && count < WORDS_MAX - 1)
		all[count++] = *words++;
	assert_in_range(siege->attacker_count, 0, STAGE_CHILDREN - 1);
	siege->attackers[siege->attacker_count] = stage__start(siege->stage, all);
	return siege->attackers[siege->attacker_count++];
}

struct child *siege__attack(struct siege *siege, const char *program, const char *const *words)
{
	static const char *const first[] = {"setpriv",        "--reuid=12345",    "--regid=12345",
					    "--clear-groups", "--pdeathsig=KILL", NULL};

	return start_attacker(siege, first, program, words);
}

struct child *siege__attack_as_root(struct siege *siege, const char *program,
				    const char *const *words)
{
	return start_attacker(siege, (const char *const[]){NULL}, program, words);
}

/* The attacker has ended. */
static bool explain(struct siege *siege, struct child *attacker)
{
	const char *errors = child__errors(siege->stage, attacker);

	if (child__wait(attacker, PATIENCE) != CANNOT)
		fail_msg("the attacker failed: %s", errors);
	if (!siege->is_crowded)
		skip_because(errors);
	print_message("  left out: %s", errors);
	return false;
}

bool siege__await(struct siege *siege, struct child *attacker, const char *text)
{
	double end = now_seconds() + PATIENCE;

	while (!child__has_said(siege->stage, attacker, text)) {
		if (!spies__is_alive(attacker->pid))
			return explain(siege, attacker);
		if (now_seconds() > end)
			fail_msg("waited in vain for '%s'; %s", text,
				 child__errors(siege->stage, attacker));
		sleep_seconds(0.01);
	}
	return true;
}

const char *siege__make_bomb(struct siege *siege, const char *kind, const char *name)
{
	const char *path = siege__field(siege, name);
	bool is_module =
		!strcmp(kind, "strtab") || !strcmp(kind, "symbols") || !strcmp(kind, "mangled");
	struct child *maker = attack_with(siege, "elf_bomb", kind, path,
					  is_module ? copy_program(siege, "module.so") : NULL);

	if (child__wait(maker, PATIENCE))
		fail_msg("no bomb: %s", child__errors(siege->stage, maker));
	return path;
}

const char *siege__fuse_device(struct siege *siege)
{
	const char *path = keep(siege, in_folder(siege->stage, "fuse"));

	if (access("/dev/fuse", F_OK))
		skip_because("this machine has no /dev/fuse");
	if (access(path, F_OK) &&
	    (mknod(path, S_IFCHR | 0666, makedev(10, 229)) || chmod(path, 0666)))
		skip_because("cannot make a node of /dev/fuse");
	return path;
}

/* Has luaspy's priority, so it waits for a processor as long as luaspy does. */
static void *watch(void *context)
{
	struct siege *siege = context;
	int priority = getpriority(PRIO_PROCESS, (id_t)siege->spy->pid);

	setpriority(PRIO_PROCESS, (id_t)gettid(), priority);
	while (siege->is_watching)
		spies__measure(siege->spy->pid, PAUSE_SECONDS, siege->cost);
	return NULL;
}

/* How many threads compete for each processor. */
static double crowding(void)
{
	double load = 0, processors = (double)sysconf(_SC_NPROCESSORS_ONLN);

	assert_int_equal(getloadavg(&load, 1), 1);
	return load > processors ? load / processors : 1;
}

static void start_honest(struct siege *siege)
{
	size_t size;
	char *lua = read_file("/usr/bin/lua5.4", &size);

	write_file(in_folder(siege->stage, HONEST), lua, size);
	free(lua);
	assert_return_code(chmod(in_folder(siege->stage, HONEST), 0755), errno);
	write_text(siege->stage, "honest.lua", honest_script);
	siege->honest = start(siege->stage, in_folder(siege->stage, HONEST), "honest.lua");
	child__await_output(siege->stage, siege->honest, "ready");
}

void siege__start_elder(struct siege *siege)
{
	write_text(siege->stage, "elder.lua", elder_script);
	siege->elder = start(siege->stage, "lua5.4", "elder.lua");
	child__await_output(siege->stage, siege->elder, "ready");
}

void siege__record(struct siege *siege, const char *interval)
{
	double begin = now_seconds();

	start_honest(siege);
	if (siege->elder)
		child__tell(siege->elder, ELDER_SECONDS);
	siege->spy = start(siege->stage, luaspy_program(), "record", "--system", "--interval",
			   interval, "-o", "x.json");
	siege->is_watching = 1;
	assert_int_equal(pthread_create(&siege->watcher, NULL, watch, siege), 0);
	while (!child__has_complained(siege->stage, siege->spy, "processes run an interpreter")) {
		if (now_seconds() - begin > SIEGE_START_SECONDS * crowding())
			fail_msg("it has not begun after %.1f s, in state '%c'",
				 now_seconds() - begin, spies__state(siege->spy->pid));
		sleep_seconds(0.01);
	}
	siege->begin = now_seconds();
	siege->honest_before = child__cpu_seconds(siege->honest);
}

void siege__begin_work(struct siege *siege, double seconds)
{
	char line[32];

	snprintf(line, sizeof(line), "%.3f", seconds);
	child__tell(siege->honest, line);
}

void siege__await_work(struct siege *siege, double seconds)
{
	double end = now_seconds() + seconds * crowding();

	while (!child__has_said(siege->stage, siege->honest, "worked")) {
		if (now_seconds() > end)
			fail_msg("the honest process does not get its time in %.0f s", seconds);
		sleep_seconds(0.01);
	}
}

static void free_paths(void *paths)
{
	globfree(paths);
	free(paths);
}

/* By name, which is by time. */
static const glob_t *list_files(struct siege *siege)
{
	glob_t *paths = stage__own(siege->stage, calloc(1, sizeof(*paths)), free_paths);

	assert_int_equal(glob(in_folder(siege->stage, "x-*.json"), 0, NULL, paths), 0);
	return paths;
}

double siege__time_us(struct siege *siege, const char *name, pid_t pid)
{
	const glob_t *paths = list_files(siege);
	double sum = 0;

	for (size_t i = 0; i < paths->gl_pathc; i++)
		sum += (double)spies__time_us(spying__read(siege->stage, paths->gl_pathv[i]), name,
					      pid);
	return sum;
}

/* Nothing may move a cursor or reverse text, whatever processes and files are called. */
static void check_text(const char *where, const char *text, size_t size)
{
	static const char *const marks[] = {"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xae",
					    "\xc2\x9b"};

	for (size_t i = 0; i < size; i++)
		if ((text[i] >= 0 && text[i] < ' ' && text[i] != '\n' && text[i] != '\t') ||
		    text[i] == 0x7f)
			fail_msg("%s has byte %#x after '%.*s'", where, (uint8_t)text[i],
				 (int)(i < 60 ? i : 60), text + i - (i < 60 ? i : 60));
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (memmem(text, size, marks[i], strlen(marks[i])))
			fail_msg("%s has a mark that turns text or moves a cursor, %zu", where, i);
}

/* Checks that the file came in time. *from_ms: when the first interval began; 0: this is it. */
static void check_file(struct siege *siege, const char *path, double *from_ms, double interval,
		       int number, bool is_last)
{
	struct scriptprofile *profile = spying__read(siege->stage, path);
	size_t size;
	const char *text = stage__own(siege->stage, read_file(path, &size), free);
	double start = json_number_value(json_object_get(profile->document, "SessionStartTime"));
	double end = json_number_value(json_object_get(profile->document, "SessionEndTime"));
	double most = 1e3 * (SIEGE_LATE_SECONDS + siege->cost->stall_seconds), late, written;
	struct stat status;

	check_text(path, text, size);
	assert_return_code(stat(path, &status), errno);
	if (!*from_ms)
		*from_ms = start;
	late = end - *from_ms - 1e3 * interval * (number + 1);
	written = (double)status.st_mtim.tv_sec * 1e3 + (double)status.st_mtim.tv_nsec / 1e6 - end;
	print_message("  interval %d: ends %+.0f ms, written %.0f ms later\n", number, late,
		      written);
	/* The last is written once all that was sampled has been named. */
	if (late > most || written > (is_last ? 1e3 * SIEGE_TERM_SECONDS : most))
		fail_msg("interval %d ended %.0f ms late, and was written %.0f ms after that; %.0f "
			 "are allowed",
			 number, late, written, most);
}

static void check_files(struct siege *siege, double interval)
{
	const glob_t *paths = list_files(siege);
	double from_ms = 0, seconds = now_seconds() - siege->begin;

	for (size_t i = 0; i < paths->gl_pathc; i++)
		check_file(siege, paths->gl_pathv[i], &from_ms, interval, (int)i,
			   i + 1 == paths->gl_pathc);
	if ((double)paths->gl_pathc < seconds / interval - 1)
		fail_msg("%zu intervals of %.0f s in %.1f s", paths->gl_pathc, interval, seconds);
}

/* Checks that all CPU time of the honest process is in the files. */
static void check_honest(struct siege *siege)
{
	double charged = 1e6 * (child__cpu_seconds(siege->honest) - siege->honest_before);
	double found = siege__time_us(siege, HONEST " honest.lua", siege->honest->pid);

	print_message("  honest: %.3f s of %.3f\n", found / 1e6, charged / 1e6);
	if (found < (1 - SIEGE_TOLERANCE) * charged || found > (1 + SIEGE_TOLERANCE) * charged)
		fail_msg("%.3f s of the %.3f that the honest process was charged", found / 1e6,
			 charged / 1e6);
}

static void check_cost(struct siege *siege, double seconds)
{
	const struct spies_cost *cost = siege->cost;
	double most = SIEGE_CPU_START + SIEGE_CPU_SHARE * seconds;

	if (siege->attack && siege->attack->spends_grant)
		most += 1e-9 * (double)processor_speed__scale(TIME_BUDGET_USER_NS);

	print_message("  luaspy: %.2f s of CPU time in %.1f, %ld KiB at most, in %d processes; "
		      "processors came %.0f ms late\n",
		      cost->all_seconds, seconds, cost->peak_kb, cost->spies.count,
		      1e3 * cost->stall_seconds);
	if (cost->all_seconds > most)
		fail_msg("%.2f s of CPU time in %.1f s, where %.2f are allowed", cost->all_seconds,
			 seconds, most);
	if (cost->peak_kb > SIEGE_PEAK_KB || siege->spy->usage.ru_maxrss > SIEGE_PEAK_KB)
		fail_msg("%ld KiB of memory, %ld in one process", cost->peak_kb,
			 siege->spy->usage.ru_maxrss);
}

void siege__finish(struct siege *siege, double interval)
{
	double begin = now_seconds();
	const char *errors;

	kill(siege->spy->pid, SIGTERM);
	while (spies__is_alive(siege->spy->pid)) {
		if (now_seconds() - begin > SIEGE_TERM_SECONDS + siege->cost->stall_seconds)
			fail_msg("%.1f s after SIGTERM it is in state '%c'; its errors: %s",
				 now_seconds() - begin, spies__state(siege->spy->pid),
				 child__errors(siege->stage, siege->spy));
		sleep_seconds(0.005);
	}
	child__wait(siege->spy, PATIENCE);
	print_message("  ended %.3f s after SIGTERM\n", now_seconds() - begin);
	errors = child__errors(siege->stage, siege->spy);
	check_text("standard error", errors, strlen(errors));
	if (siege->spy->status)
		fail_msg("exit status %d: %s", siege->spy->status, errors);
	stop_watching(siege);
	check_cost(siege, begin - siege->begin);
	check_files(siege, interval);
	check_honest(siege);
	if (siege->attack && siege->attack->named && !strstr(errors, siege->attack->named) &&
	    !strstr(errors, "/field/"))
		fail_msg("nothing is said of '%s': %s", siege->attack->named, errors);
}

void siege__assert_ends(struct siege *siege, struct child *spy, const char *what, double seconds)
{
	double end = now_seconds() + seconds * crowding();

	while (spies__is_alive(spy->pid)) {
		if (now_seconds() > end)
			fail_msg("%s does not end in %.1f s, it is in state '%c': %s", what,
				 seconds, spies__state(spy->pid), child__errors(siege->stage, spy));
		sleep_seconds(0.005);
	}
	child__wait(spy, PATIENCE);
}

void siege__assert_killable(struct siege *siege, struct child *spy)
{
	double begin = now_seconds();
	struct spies family = spies__family(spy->pid);
	bool even_held = !siege->attack || !siege->attack->holds_worker;

	kill(spy->pid, SIGKILL);
	while (spies__is_alive(spy->pid) || spies__any_alive(&family, even_held)) {
		if (now_seconds() - begin > SIEGE_KILL_SECONDS)
			fail_msg("%.1f s after SIGKILL '%s' is in state '%c'",
				 now_seconds() - begin, siege->attack ? siege->attack->name : "",
				 spies__state(spy->pid));
		sleep_seconds(0.005);
	}
	child__wait(spy, PATIENCE);
}
