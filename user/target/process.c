/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000ull

/* procfs says ENOENT for a process that is gone before its file is opened, ESRCH after. */
static int proc_error(int error)
{
	return error == ENOENT ? -ESRCH : -error;
}

static FILE *__attribute__((format(printf, 1, 2))) open_proc(const char *format, ...)
{
	char path[64]; /* "/proc/", numbers and a name of ours: nothing of the target's */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return fopen(path, "re");
}

/* Takes `stream`; *text is for free() in every case. A comm may hold a newline, hence no getline().
 */
static int read_all(FILE *stream, char **text)
{
	size_t room = 0;
	int error = 0;

	*text = NULL;
	if (!stream)
		return proc_error(errno);
	errno = 0;
	if (getdelim(text, &room, '\0', stream) < 0)
		error = errno ? proc_error(errno) : -ESRCH;
	fclose(stream);
	return error;
}

int process__name(pid_t pid, char name[16])
{
	char *text;
	int error = read_all(open_proc("/proc/%d/comm", pid), &text);
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

/*
 * The kernel writes a newline as "\012" and leaves all else alone, a backslash too: a name that
 * holds these four characters reads like a newline, and one that ends in " (deleted)" like a
 * deleted file. /proc/PID/map_files does not depend on either.
 */
static void unescape(char *path)
{
	static const char deleted[] = " (deleted)";
	char *to = path;
	size_t length;

	for (const char *from = path; *from; to++) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	length = (size_t)(to - path);
	if (length > sizeof(deleted) - 1 && strcmp(to - (sizeof(deleted) - 1), deleted) == 0)
		path[length - (sizeof(deleted) - 1)] = '\0';
}

/* 1: a mapping of a file; 0: any other line; -ENOMEM. */
static int parse_mapping(char *line, struct process_mapping *mapping)
{
	char permissions[5];
	unsigned int major_number, minor_number;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, permissions, &mapping->offset, &major_number,
		   &minor_number, &mapping->inode, &path) < 7 ||
	    !path || line[path] != '/' || !mapping->inode)
		return 0;
	line[path + strcspn(line + path, "\n")] = '\0';
	unescape(line + path);
	mapping->device = makedev(major_number, minor_number);
	mapping->executable = strchr(permissions, 'x') != NULL;
	mapping->writable = strchr(permissions, 'w') != NULL;
	mapping->path = strdup(line + path);
	return mapping->path ? 1 : -ENOMEM;
}

static int add_mapping(struct process_mappings *mappings, size_t *room,
		       const struct process_mapping *mapping)
{
	if (mappings->count == *room) {
		size_t more = *room ? 2 * *room : 64;
		void *items = reallocarray(mappings->items, more, sizeof(*mappings->items));

		if (!items)
			return -ENOMEM;
		mappings->items = items;
		*room = more;
	}
	mappings->items[mappings->count++] = *mapping;
	return 0;
}

int process__mappings(pid_t pid, struct process_mappings *mappings)
{
	FILE *stream = open_proc("/proc/%d/maps", pid);
	size_t room = 0, line_room = 0;
	char *line = NULL;
	int error = 0;

	memset(mappings, 0, sizeof(*mappings));
	if (!stream)
		return proc_error(errno);
	errno = 0;
	while (!error && getline(&line, &line_room, stream) >= 0) {
		struct process_mapping mapping;
		int found = parse_mapping(line, &mapping);

		if (found < 0)
			error = found;
		if (found > 0 && (error = add_mapping(mappings, &room, &mapping)) < 0)
			free(mapping.path);
		errno = 0;
	}
	if (!error && errno)
		error = proc_error(errno);
	free(line);
	fclose(stream);
	return error;
}

void process__mappings_free(struct process_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		free(mappings->items[i].path);
	free(mappings->items);
	memset(mappings, 0, sizeof(*mappings));
}

/* Without links that lead out of the folder: an absolute one begins there, ".." ends there. */
static int open_in(int folder, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return file < 0 ? -errno : file;
}

static int open_in_root_of(pid_t pid, const char *path)
{
	char root_path[32];
	int root, file;

	snprintf(root_path, sizeof(root_path), "/proc/%d/root", pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	file = open_in(root, path);
	close(root);
	return file;
}

static int open_in_our_root(const struct process_mapping *mapping)
{
	int file = open(mapping->path, O_PATH | O_CLOEXEC);
	struct stat status;

	if (file < 0)
		return -errno;
	if (!fstat(file, &status) && status.st_ino == mapping->inode)
		return file;
	close(file);
	return -ENOENT;
}

/* All by O_PATH: a plain open() has side effects where the target has mapped a device. */
int process__open_mapped_file(pid_t pid, const struct process_mapping *mapping)
{
	char path[96];
	bool is_denied;
	int file, ours;

	/* Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
	file = open(path, O_PATH | O_CLOEXEC);
	if (file >= 0)
		return file;
	is_denied = errno == EPERM || errno == EACCES;
	file = open_in_root_of(pid, mapping->path);
	if (file >= 0)
		return file;
	/* The kernel writes paths from the reader's root: that of a target in a chroot is in them.
	 */
	ours = open_in_our_root(mapping);
	if (ours >= 0)
		return ours;
	return is_denied && file == -ENOENT ? -EPERM : file;
}

int process__mapped_pages(pid_t pid, uint64_t *pages)
{
	char *text;
	int error = read_all(open_proc("/proc/%d/statm", pid), &text);

	if (!error && sscanf(text, "%" SCNu64, pages) != 1)
		error = -EPROTO;
	free(text);
	return error;
}

static int compare_ids(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return (a > b) - (a < b);
}

static int add_id(pid_t **ids, size_t *count, pid_t id)
{
	/* At powers of two from 16 on there is no room left. */
	if (!(*count & (*count - 1)) && (!*count || *count >= 16)) {
		void *more = reallocarray(*ids, *count ? 2 * *count : 16, sizeof(**ids));

		if (!more)
			return -ENOMEM;
		*ids = more;
	}
	(*ids)[(*count)++] = id;
	return 0;
}

/* The count, or -errno. */
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
		return proc_error(errno);
	return count ? (ssize_t)count : -ESRCH;
}

static ssize_t list_ids(const char *path, pid_t **ids)
{
	DIR *directory = opendir(path);
	ssize_t count;

	*ids = NULL;
	if (!directory)
		return proc_error(errno);
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

/* Fields 22 and 28 of /proc/PID/stat. */
static int read_stat(pid_t pid, unsigned long long *start_ticks, uint64_t *stack_start)
{
	char *text, *end;
	int error = read_all(open_proc("/proc/%d/stat", pid), &text);

	if (error)
		return error;
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1,
			   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
			   "%*d %*d %*d %*d %llu %*u %*d %*u %*u %*u %" SCNu64,
			   start_ticks, stack_start) != 2)
		error = -EPROTO;
	free(text);
	return error;
}

int process__stack_start(pid_t pid, uint64_t *address)
{
	unsigned long long ticks;

	return read_stat(pid, &ticks, address);
}

/* It is told in clock ticks of the clock that goes on in suspension. */
int process__birth_ns(pid_t pid, uint64_t *birth_ns)
{
	struct timespec boot, monotonic;
	uint64_t asleep_ns, stack_start;
	unsigned long long ticks;
	int error = read_stat(pid, &ticks, &stack_start);

	if (error)
		return error;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	asleep_ns = (uint64_t)(boot.tv_sec - monotonic.tv_sec) * NS_PER_SECOND +
		    (uint64_t)(boot.tv_nsec - monotonic.tv_nsec);
	*birth_ns = ticks * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK)) - asleep_ns;
	return 0;
}

int process__user(pid_t pid, uid_t *user)
{
	char *text;
	int error = read_all(open_proc("/proc/%d/status", pid), &text);
	const char *line = error ? NULL : strstr(text, "\nUid:");

	/* A newline in the name is escaped there: the first such line is the kernel's. */
	if (!error && (!line || sscanf(line, "\nUid: %u", user) != 1))
		error = -EPROTO;
	free(text);
	return error;
}

int process__cgroup(pid_t pid, char **path)
{
	char *text, *line, *rest;
	int error = read_all(open_proc("/proc/%d/cgroup", pid), &text);

	*path = NULL;
	if (error)
		goto cleanup;
	/* "HIERARCHY:CONTROLLERS:PATH", the unified hierarchy being 0. */
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
	int error = read_all(open_proc("/proc/%d/status", pid), &status);

	*container = (struct container){.pid = error ? 0 : container__parse_pid(status)};
	if (container->pid)
		error = read_all(open_proc("/proc/%d/cgroup", pid), &cgroups);
	if (!error && cgroups)
		container__parse_id(cgroups, container->id);
	free(cgroups);
	free(status);
	return error;
}

/* Those that one thread created. */
static int add_children(pid_t pid, pid_t tid, pid_t **pids, size_t *count)
{
	char *text, *word, *rest;
	int error = read_all(open_proc("/proc/%d/task/%d/children", pid, tid), &text);

	rest = text;
	/* Gone, empty, or not told. */
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

	if (read_all(open_proc("/proc/%d/stat", pid), &text) == 0) {
		end = strrchr(text, ')');
		if (end && sscanf(end + 1, " %*c %d", &parent) != 1)
			parent = 0;
	}
	free(text);
	return parent;
}

/* Moves those whose parent is in the family, which begins with `first`, behind it. */
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
	int error = read_all(open_proc("/proc/%d/task/%d/stat", pid, tid), &text);

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
	int error = read_all(open_proc("/proc/%d/task/%d/schedstat", pid, tid), &text);

	if (!error && sscanf(text, "%" SCNu64, runtime_ns) != 1)
		error = -EPROTO;
	free(text);
	/* The file is missing, whether or not the thread is there. */
	return error == -ESRCH ? process__thread_ticks_ns(pid, tid, runtime_ns) : error;
}

int process__runtime_ns(pid_t pid, uint64_t *runtime_ns)
{
	struct timespec time;
	clockid_t clock;
	int error;

	/* To this call 0 is the caller. */
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

char process__state(pid_t pid)
{
	char *text, *end;
	char state = 0;

	/* The name before the state is in parentheses and may hold parentheses and spaces. */
	if (read_all(open_proc("/proc/%d/stat", pid), &text) == 0) {
		end = strrchr(text, ')');
		if (end && end[1] == ' ')
			state = end[2];
	}
	free(text);
	return state;
}
