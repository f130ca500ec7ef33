/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process/proc_file.h"

#define NS_PER_SECOND 1000000000ull

/*
 * Reads and closes `stream`; the caller frees *text in every case. A comm may contain a newline,
 * hence no getline().
 */
static int read_all(FILE *stream, char **text)
{
	size_t room = 0;
	int error = 0;

	*text = NULL;
	if (!stream)
		return proc_file__error(errno);
	errno = 0;
	if (getdelim(text, &room, '\0', stream) < 0)
		error = errno ? proc_file__error(errno) : -ESRCH;
	fclose(stream);
	return error;
}

int process__name(pid_t pid, char name[16])
{
	char *text;
	int error = read_all(proc_file__open("/proc/%d/comm", pid), &text);
	size_t length;

	if (error)
		goto cleanup;
	length = strlen(text);
	if (length && text[length - 1] == '\n')
		length--;
	if (length > 15)
		length = 15;
	memcpy(name, text, length);
	name[length] = '\0';
cleanup:
	free(text);
	return error;
}

static int read_pages(pid_t id, uint64_t *pages)
{
	char *text;
	int error = read_all(proc_file__open("/proc/%d/statm", id), &text);

	if (!error && sscanf(text, "%" SCNu64, pages) != 1)
		error = -EPROTO;
	free(text);
	return error;
}

int process__mapped_pages(pid_t pid, uint64_t *pages)
{
	int error = read_pages(pid, pages);
	pid_t id = error || *pages ? pid : process__memory_id(pid);

	return id == pid ? error : read_pages(id, pages);
}

static int compare_ids(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return (a > b) - (a < b);
}

static int add_id(pid_t **ids, size_t *count, pid_t id)
{
	/* There is no room if the count is 0, or a power of two from 16 on. */
	if (!(*count & (*count - 1)) && (!*count || *count >= 16)) {
		void *more = reallocarray(*ids, *count ? 2 * *count : 16, sizeof(**ids));

		if (!more)
			return -ENOMEM;
		*ids = more;
	}
	(*ids)[(*count)++] = id;
	return 0;
}

/* Returns the count, or -errno. */
static ssize_t read_ids(DIR *directory, pid_t **tids)
{
	const struct dirent *entry;
	size_t count = 0;

	while (errno = 0, (entry = readdir(directory))) {
		char *end;
		long id = strtol(entry->d_name, &end, 10);

		if (*end || id <= 0)
			continue;
		if (add_id(tids, &count, (pid_t)id))
			return -ENOMEM;
	}
	if (errno)
		return proc_file__error(errno);
	return count ? (ssize_t)count : -ESRCH;
}

static ssize_t list_ids(const char *path, pid_t **ids)
{
	DIR *directory = opendir(path);
	ssize_t count;

	*ids = NULL;
	if (!directory)
		return proc_file__error(errno);
	count = read_ids(directory, ids);
	closedir(directory);
	if (count >= 0)
		return count;
	free(*ids);
	*ids = NULL;
	return count;
}

ssize_t process__threads(pid_t pid, pid_t **tids)
{
	char path[32];
	ssize_t count;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	count = list_ids(path, tids);
	if (count > 0)
		qsort(*tids, (size_t)count, sizeof(**tids), compare_ids);
	return count;
}

ssize_t process__all(pid_t **pids)
{
	return list_ids("/proc", pids);
}

/* Fields 4, 22, 23, 26 and 28 of /proc/PID/stat. */
struct stat_fields {
	pid_t parent;
	unsigned long long start_ticks, memory, code_start;
	uint64_t stack_start;
};

static int read_stat(pid_t pid, struct stat_fields *fields)
{
	char *text, *end;
	int error = read_all(proc_file__open("/proc/%d/stat", pid), &text);

	if (error)
		return error;
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1,
			   " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
			   "%*d %*d %*d %*d %llu %llu %*d %*u %llu %*u %" SCNu64,
			   &fields->parent, &fields->start_ticks, &fields->memory,
			   &fields->code_start, &fields->stack_start) != 5)
		error = -EPROTO;
	free(text);
	return error;
}

int process__stack_start(pid_t pid, uint64_t *address)
{
	struct stat_fields fields;
	int error = read_stat(pid, &fields);

	if (!error)
		*address = fields.stack_start;
	return error;
}

bool process__is_executing(pid_t pid)
{
	struct stat_fields fields;

	return !read_stat(pid, &fields) && fields.memory && !fields.code_start;
}

/* The kernel reports it in clock ticks of CLOCK_BOOTTIME, which goes on during suspend. */
int process__birth_ns(pid_t pid, uint64_t *birth_ns)
{
	struct timespec boot, monotonic;
	struct stat_fields fields;
	uint64_t asleep_ns;
	int error = read_stat(pid, &fields);

	if (error)
		return error;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	asleep_ns = (uint64_t)(boot.tv_sec - monotonic.tv_sec) * NS_PER_SECOND +
		    (uint64_t)(boot.tv_nsec - monotonic.tv_nsec);
	*birth_ns =
		fields.start_ticks * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK)) - asleep_ns;
	return 0;
}

/* How many generations of forked processes are followed. */
#define GENERATIONS_MAX 16

int process__program_birth_ns(pid_t pid, uint64_t *birth_ns)
{
	struct stat_fields fields, before;
	int error = read_stat(pid, &fields);

	/* execve() puts the stack elsewhere, and fork() keeps it where it is. */
	for (int i = 0; !error && fields.stack_start && i < GENERATIONS_MAX; i++) {
		if (fields.parent <= 1 || read_stat(fields.parent, &before) ||
		    before.stack_start != fields.stack_start)
			break;
		pid = fields.parent;
		fields = before;
	}
	return error ? error : process__birth_ns(pid, birth_ns);
}

pid_t process__of_thread(pid_t tid)
{
	char *text;
	int error = read_all(proc_file__open("/proc/%d/status", tid), &text), pid;
	const char *line = error ? NULL : strstr(text, "\nTgid:");

	/* As for the user. */
	if (!line || sscanf(line, "\nTgid: %d", &pid) != 1)
		pid = 0;
	free(text);
	return pid;
}

int process__user(pid_t pid, uid_t *user)
{
	char *text;
	int error = read_all(proc_file__open("/proc/%d/status", pid), &text);
	const char *line = error ? NULL : strstr(text, "\nUid:");

	/* The kernel escapes newlines in the name, so the first such line is its own. */
	if (!error && (!line || sscanf(line, "\nUid: %u", user) != 1))
		error = -EPROTO;
	free(text);
	return error;
}

int process__cgroup(pid_t pid, char **path)
{
	char *text, *line, *rest;
	int error = read_all(proc_file__open("/proc/%d/cgroup", pid), &text);

	*path = NULL;
	if (error)
		goto cleanup;
	/* "HIERARCHY:CONTROLLERS:PATH"; the unified hierarchy is 0. */
	for (rest = text; (line = strsep(&rest, "\n"));) {
		const char *begin = strchr(line, ':');

		begin = begin ? strchr(begin + 1, ':') : NULL;
		if (!begin || (*path && strncmp(line, "0:", 2)))
			continue;
		free(*path);
		*path = strdup(begin + 1);
		if (!*path)
			break;
	}
	error = *path ? 0 : -ENOMEM;
cleanup:
	free(text);
	return error;
}

int process__container(pid_t pid, struct container *container)
{
	char *status, *cgroups = NULL;
	int error = read_all(proc_file__open("/proc/%d/status", pid), &status);

	*container = (struct container){.pid = error ? 0 : container__parse_pid(status)};
	if (container->pid)
		error = read_all(proc_file__open("/proc/%d/cgroup", pid), &cgroups);
	if (!error && cgroups)
		container__parse_id(cgroups, container->id);
	free(cgroups);
	free(status);
	return error;
}

/* Adds the children that one thread created. */
static int add_children(pid_t pid, pid_t tid, pid_t **pids, size_t *count)
{
	char *text, *word, *rest;
	int error = read_all(proc_file__open("/proc/%d/task/%d/children", pid, tid), &text);

	rest = text;
	/* The thread is gone or has no children, or the kernel does not list them. */
	if (error != -ENOMEM)
		error = 0;
	while (!error && rest && (word = strsep(&rest, " ")))
		if (*word)
			error = add_id(pids, count, (pid_t)strtol(word, NULL, 10));
	free(text);
	return error;
}

ssize_t process__children(pid_t pid, pid_t **pids)
{
	pid_t *tids;
	ssize_t threads = process__threads(pid, &tids);
	size_t count = 0;
	int error = 0;

	*pids = NULL;
	for (ssize_t i = 0; i < threads && !error; i++)
		error = add_children(pid, tids[i], pids, &count);
	free(tids);
	if (!error && threads >= 0)
		return (ssize_t)count;
	free(*pids);
	*pids = NULL;
	return error ? error : threads;
}

static pid_t parent_of(pid_t pid)
{
	char *text, *end;
	int parent = 0;

	if (read_all(proc_file__open("/proc/%d/stat", pid), &text) == 0) {
		end = strrchr(text, ')');
		if (end && sscanf(end + 1, " %*c %d", &parent) != 1)
			parent = 0;
	}
	free(text);
	return parent;
}

/* Moves the descendants of `first` to the front, parents first. Returns their number, or -errno. */
static ssize_t gather(pid_t first, pid_t *pids, ssize_t count)
{
	pid_t *family = calloc((size_t)count + 1, sizeof(*family));
	pid_t *parents = calloc((size_t)count, sizeof(*parents));
	ssize_t members = 1;

	if (!family || !parents) {
		members = -ENOMEM;
		goto cleanup;
	}
	family[0] = first;
	for (ssize_t i = 0; i < count; i++)
		parents[i] = parent_of(pids[i]);
	for (ssize_t member = 0; member < members; member++)
		for (ssize_t i = 0; i < count; i++)
			if (parents[i] && parents[i] == family[member] && members <= count) {
				family[members++] = pids[i];
				parents[i] = 0;
			}
	members--;
	memcpy(pids, family + 1, (size_t)members * sizeof(*pids));
cleanup:
	free(family);
	free(parents);
	return members;
}

ssize_t process__descendants(pid_t pid, pid_t **pids)
{
	ssize_t count = process__all(pids);

	if (count >= 0)
		count = gather(pid, *pids, count);
	if (count < 0) {
		free(*pids);
		*pids = NULL;
	}
	return count;
}

/* Fields 14 and 15 of /proc/PID/task/TID/stat. */
int process__thread_ticks_ns(pid_t pid, pid_t tid, uint64_t *runtime_ns)
{
	unsigned long long user, system;
	char *text, *end;
	int error = read_all(proc_file__open("/proc/%d/task/%d/stat", pid, tid), &text);

	if (error)
		return error;
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			   &system) != 2)
		error = -EPROTO;
	else
		*runtime_ns = (user + system) * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
	free(text);
	return error;
}

int process__thread_runtime_ns(pid_t pid, pid_t tid, uint64_t *runtime_ns)
{
	char *text;
	int error = read_all(proc_file__open("/proc/%d/task/%d/schedstat", pid, tid), &text);

	if (!error && sscanf(text, "%" SCNu64, runtime_ns) != 1)
		error = -EPROTO;
	free(text);
	/* The file is missing; the thread may still be there. */
	return error == -ESRCH ? process__thread_ticks_ns(pid, tid, runtime_ns) : error;
}

int process__runtime_ns(pid_t pid, uint64_t *runtime_ns)
{
	struct timespec time;
	clockid_t clock;
	int error;

	/* clock_getcpuclockid() takes 0 for the caller. */
	if (pid <= 0)
		return -ESRCH;
	error = clock_getcpuclockid(pid, &clock);
	if (error)
		return -error;
	if (clock_gettime(clock, &time) < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	*runtime_ns = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
	return 0;
}

/*
 * That of the thread alone: for /proc/PID/stat the kernel adds up what all threads of the process
 * did, which takes it milliseconds if they are thousands.
 */
static char thread_state(pid_t pid, pid_t tid)
{
	char *text, *end;
	char state = 0;

	/* The name before the state is in parentheses and may hold parentheses and spaces. */
	if (read_all(proc_file__open("/proc/%d/task/%d/stat", pid, tid), &text) == 0) {
		end = strrchr(text, ')');
		if (end && end[1] == ' ')
			state = end[2];
	}
	free(text);
	return state;
}

char process__state(pid_t pid)
{
	return thread_state(pid, pid);
}

static bool is_over(char state)
{
	return !state || state == 'Z' || state == 'X';
}

/* Threads other than the first leave the list as they end, so hardly any of it is read. */
#define LIVING_TRIES 100

/* 0: there is none. */
static pid_t living_thread(pid_t pid)
{
	const struct dirent *entry;
	char path[32];
	pid_t found = 0;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	for (int i = 0; threads && !found && i < LIVING_TRIES && (entry = readdir(threads)); i++) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && !is_over(thread_state(pid, tid)))
			found = tid;
	}
	if (threads)
		closedir(threads);
	return found;
}

bool process__has_ended(pid_t pid)
{
	return is_over(process__state(pid)) && !living_thread(pid);
}

pid_t process__memory_id(pid_t pid)
{
	pid_t other = process__state(pid) == 'Z' ? living_thread(pid) : 0;

	return other ? other : pid;
}
