/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "stage.h"

#define PATIENCE_SECONDS      10
#define WORK_PATIENCE_SECONDS 60
#define PATHS                 4
#define PATH_SIZE             4096

static char *next_path(void)
{
	static char paths[PATHS][PATH_SIZE];
	static unsigned next;

	return paths[next++ % PATHS];
}

int stage__open(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	if (!stage)
		return -1;
	strcpy(stage->folder, "/tmp/luaspy-test-XXXXXX");
	/* Readable to all: some tests run as another user. */
	if (!mkdtemp(stage->folder) || chmod(stage->folder, 0755)) {
		free(stage);
		return -1;
	}
	*state = stage;
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

int stage__close(void **state)
{
	struct stage *stage = *state;

	for (int i = stage->count; i-- > 0;) {
		child__kill(&stage->children[i]);
		if (stage->children[i].input >= 0)
			close(stage->children[i].input);
	}
	while (stage->owned_count-- > 0)
		stage->owned[stage->owned_count].destroy(stage->owned[stage->owned_count].thing);
	nftw(stage->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(stage);
	return 0;
}

void *stage__own(struct stage *stage, void *thing, void (*destroy)(void *thing))
{
	assert_non_null(thing);
	assert_in_range(stage->owned_count, 0, STAGE_THINGS - 1);
	stage->owned[stage->owned_count].thing = thing;
	stage->owned[stage->owned_count++].destroy = destroy;
	return thing;
}

static void redirect(const struct stage *stage, int number, const char *kind, int to)
{
	char path[PATH_SIZE];
	int fd;

	snprintf(path, sizeof(path), "%s/.%d.%s", stage->folder, number, kind);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
	close(fd);
}

static void become(const struct stage *stage, int number, const char *const *words, const int *pipe)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(pipe[0], 0);
	close(pipe[0]);
	redirect(stage, number, "out", 1);
	redirect(stage, number, "err", 2);
	if (chdir(stage->folder))
		_exit(126);
	execvp(words[0], (char *const *)words);
	_exit(127);
}

/* Waits until all copies of the other end are closed: executing the program closes the last one. */
static void await_execution(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	close(fd);
}

struct child *stage__start(struct stage *stage, const char *const *words)
{
	struct child *child = &stage->children[stage->count];
	int pipe[2], begun[2];

	assert_in_range(stage->count, 0, STAGE_CHILDREN - 1);
	assert_return_code(pipe2(pipe, O_CLOEXEC), errno);
	assert_return_code(pipe2(begun, O_CLOEXEC), errno);
	memset(child, 0, sizeof(*child));
	child->number = stage->count;
	child->pid = fork();
	assert_return_code(child->pid, errno);
	if (child->pid == 0)
		become(stage, child->number, words, pipe);
	close(pipe[0]);
	close(begun[1]);
	await_execution(begun[0]);
	child->input = pipe[1];
	stage->count++;
	return child;
}

static char *read_stream(const struct stage *stage, const struct child *child, const char *kind,
			 size_t *size)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/.%d.%s", stage->folder, child->number, kind);
	/* The child may not have created it yet. */
	if (access(path, F_OK))
		return strdup("");
	return read_file(path, size);
}

char *child__output(struct stage *stage, const struct child *child)
{
	return stage__own(stage, read_stream(stage, child, "out", NULL), free);
}

char *child__errors(struct stage *stage, const struct child *child)
{
	return stage__own(stage, read_stream(stage, child, "err", NULL), free);
}

size_t child__output_size(struct stage *stage, const struct child *child)
{
	size_t size = 0;

	free(read_stream(stage, child, "out", &size));
	return size;
}

static bool holds(const struct stage *stage, const struct child *child, const char *kind,
		  const char *text)
{
	char *all = read_stream(stage, child, kind, NULL);
	bool is_there = strstr(all, text) != NULL;

	free(all);
	return is_there;
}

bool child__has_said(const struct stage *stage, const struct child *child, const char *text)
{
	return holds(stage, child, "out", text);
}

bool child__has_complained(const struct stage *stage, const struct child *child, const char *text)
{
	return holds(stage, child, "err", text);
}

void child__assert_complained(struct stage *stage, const struct child *child, const char *text)
{
	if (!child__has_complained(stage, child, text))
		fail_msg("no '%s' in:\n%s", text, child__errors(stage, child));
}

/* A child that uses CPU time is not hung; on a busy machine it gets little. */
static bool may_still_come(const struct child *child, double begin, double cpu_before)
{
	double waited = now_seconds() - begin;

	return waited < PATIENCE_SECONDS ||
	       (waited < WORK_PATIENCE_SECONDS && !child->is_over &&
		child__cpu_seconds(child) - cpu_before > PATIENCE_SECONDS / 100.0);
}

static void await(struct stage *stage, const struct child *child, const char *kind,
		  const char *text)
{
	double begin = now_seconds(), cpu_before = child->is_over ? 0 : child__cpu_seconds(child);
	bool is_there = false;

	while (!is_there && may_still_come(child, begin, cpu_before)) {
		is_there = holds(stage, child, kind, text);
		if (!is_there)
			sleep_seconds(0.005);
	}
	if (!is_there)
		fail_msg("waited in vain for '%s'; its output: %s; its errors: %s", text,
			 child__output(stage, child), child__errors(stage, child));
}

void child__await_output(struct stage *stage, const struct child *child, const char *text)
{
	await(stage, child, "out", text);
}

void child__await_errors(struct stage *stage, const struct child *child, const char *text)
{
	await(stage, child, "err", text);
}

void child__tell(struct child *child, const char *line)
{
	assert_int_equal(write(child->input, line, strlen(line)), strlen(line));
	assert_int_equal(write(child->input, "\n", 1), 1);
}

static bool reap(struct child *child, int options)
{
	int status;

	if (child->is_over)
		return true;
	if (wait4(child->pid, &status, options, &child->usage) != child->pid)
		return false;
	child->is_over = true;
	child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

int child__wait(struct child *child, double seconds)
{
	double end = now_seconds() + seconds;

	while (!reap(child, WNOHANG)) {
		if (now_seconds() > end)
			fail_msg("process %d does not end", child->pid);
		sleep_seconds(0.002);
	}
	return child->status;
}

void child__kill(struct child *child)
{
	if (child->is_over)
		return;
	kill(child->pid, SIGKILL);
	reap(child, 0);
}

double child__cpu_seconds(const struct child *child)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(child->pid, &clock), 0);
	assert_return_code(clock_gettime(clock, &time), errno);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Of a process or a thread, by its stat file. */
static char state_in(const char *path)
{
	char *text = read_file(path, NULL), state;

	/* After its name, which may contain anything. */
	state = strrchr(text, ')')[2];
	free(text);
	return state;
}

void child__await_state(struct stage *stage, const struct child *child, char state)
{
	double end = now_seconds() + PATIENCE_SECONDS;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", child->pid);
	while (state_in(path) != state) {
		if (now_seconds() > end)
			fail_msg("process %d does not come to be '%c'; its errors: %s", child->pid,
				 state, child__errors(stage, child));
		sleep_seconds(0.005);
	}
}

static size_t threads_awake(const struct child *child)
{
	char pattern[64];
	size_t count = 0;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/stat", child->pid);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		count += state_in(found.gl_pathv[i]) != 'S';
	globfree(&found);
	return count;
}

void child__await_asleep(struct stage *stage, const struct child *child, size_t awake)
{
	double end = now_seconds() + PATIENCE_SECONDS;
	size_t count;

	while ((count = threads_awake(child)) > awake) {
		if (now_seconds() > end)
			fail_msg("%zu threads of process %d are awake, not %zu; its errors: %s",
				 count, child->pid, awake, child__errors(stage, child));
		sleep_seconds(0.005);
	}
}

void child__let_work(const struct child *child, double seconds)
{
	double before = child__cpu_seconds(child), end = now_seconds() + WORK_PATIENCE_SECONDS;

	while (child__cpu_seconds(child) < before + seconds) {
		if (now_seconds() > end)
			fail_msg("process %d hardly works", child->pid);
		sleep_seconds(0.005);
	}
}

const char *in_folder(const struct stage *stage, const char *name)
{
	char *path = next_path();

	snprintf(path, PATH_SIZE, "%s/%s", stage->folder, name);
	return path;
}

const char *program_source(const char *name)
{
	char *path = next_path(), folder[PATH_SIZE / 2];

	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(path, PATH_SIZE, "%s/tests/programs/%s", folder, name);
	if (access(path, R_OK))
		fail_msg("cannot read '%s' (run this in the folder of the sources)", path);
	return path;
}

const char *built_program(const char *name)
{
	char *path = next_path(), self[PATH_SIZE / 2], *tests = NULL;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_in_range(length, 1, sizeof(self) - 1);
	self[length] = '\0';
	/* A test program is in a folder below "tests/", or in a room of that folder. */
	for (char *at = self; (at = strstr(at, "/tests/")); at++)
		tests = at;
	assert_non_null(tests);
	*tests = '\0';
	snprintf(path, PATH_SIZE, "%s/tests/programs/%s", self, name);
	return path;
}

int line_in(const char *name, const char *mark)
{
	char *text = read_file(program_source(name), NULL);
	char *end = strstr(text, mark);
	int line = 1;

	if (!end)
		fail_msg("no '%s' in '%s'", mark, name);
	for (const char *c = text; c < end; c++)
		line += *c == '\n';
	free(text);
	return line;
}

void write_file(const char *path, const void *content, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(content, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

void write_text(const struct stage *stage, const char *name, const char *text)
{
	write_file(in_folder(stage, name), text, strlen(text));
}

char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	size_t used = 0, room = 1 << 16;
	char *text = malloc(room);

	if (!file)
		fail_msg("cannot open '%s': %s", path, strerror(errno));
	assert_non_null(text);
	for (size_t got; (got = fread(text + used, 1, room - used - 1, file)) > 0;) {
		used += got;
		if (room - used < 2) {
			room *= 2;
			text = realloc(text, room);
			assert_non_null(text);
		}
	}
	fclose(file);
	text[used] = '\0';
	if (size)
		*size = used;
	return text;
}

void stage__await_file(struct stage *stage, const struct child *maker, const char *name)
{
	double end = now_seconds() + PATIENCE_SECONDS;

	while (access(in_folder(stage, name), F_OK)) {
		if (now_seconds() > end)
			fail_msg("waited in vain for '%s'; %s%s", name, child__output(stage, maker),
				 child__errors(stage, maker));
		sleep_seconds(0.005);
	}
}

int count_files(const char *folder)
{
	DIR *stream = opendir(folder);
	int count = 0;

	assert_non_null(stream);
	for (struct dirent *entry; (entry = readdir(stream));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(stream);
	return count;
}

double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void sleep_seconds(double seconds)
{
	struct timespec time = {.tv_sec = (time_t)seconds};

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	nanosleep(&time, NULL);
}
