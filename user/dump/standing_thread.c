/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/standing_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dump/musl_thread.h"
#include "process/process.h"

/* A field of /proc/PID/stat, proc(5); the state, which follows the name, is field 3. */
#define FIELD_START_STACK 28

static int proc_error(void)
{
	return errno == ENOENT ? -ESRCH : -errno;
}

/* Reads a small file of the thread, NUL-terminated. 0 or -errno. */
static int read_small(pid_t pid, pid_t tid, const char *name, char *to, size_t size)
{
	char path[64];
	FILE *stream;
	size_t length;
	int error = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	stream = fopen(path, "re");
	if (!stream)
		return proc_error();
	errno = 0;
	length = fread(to, 1, size - 1, stream);
	if (ferror(stream))
		error = errno ? proc_error() : -EIO;
	to[length] = '\0';
	fclose(stream);
	return error;
}

/* Returns the fields after the name, which may contain anything. NULL: there are none. */
static const char *fields_of(const char *stat)
{
	const char *end = strrchr(stat, ')');

	return end && end[1] == ' ' && end[2] ? end + 2 : NULL;
}

static int read_state(pid_t pid, pid_t tid, char *state)
{
	char text[1024];
	const char *fields;
	int error = read_small(pid, tid, "stat", text, sizeof(text));

	if (error)
		return error;
	fields = fields_of(text);
	if (!fields)
		return -ESRCH;
	*state = *fields;
	return *state == 'Z' || *state == 'X' ? -ESRCH : 0;
}

static int parse_call(const char *text, struct standing_thread *look)
{
	uint64_t *a = look->arguments;

	if (!strncmp(text, "running", 7))
		return -EAGAIN;
	if (sscanf(text, "-1 0x%" SCNx64 " 0x%" SCNx64, &look->sp, &look->pc) == 2) {
		look->system_call = -1;
		return 0;
	}
	return sscanf(text,
		      "%" SCNd64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
		      " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64,
		      &look->system_call, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &look->sp,
		      &look->pc) == 9
		       ? 0
		       : -EPROTO;
}

/*
 * Sums both kinds of context switches, in the last two lines of the thread's status file. 0 or
 * -errno.
 */
static int count_switches(pid_t pid, pid_t tid, uint64_t *switches)
{
	char path[64], *line = NULL;
	size_t room = 0;
	int found = 0, error = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	stream = fopen(path, "re");
	if (!stream)
		return proc_error();
	*switches = 0;
	errno = 0;
	while (getline(&line, &room, stream) > 0) {
		uint64_t count;

		if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &count) != 1 &&
		    sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &count) != 1)
			continue;
		*switches += count;
		found++;
	}
	if (found != 2)
		error = errno ? proc_error() : -EPROTO;
	free(line);
	fclose(stream);
	return error;
}

/*
 * The switches are counted last: the thread was off the processor when its system call was read
 * (task_current_syscall() in lib/syscall.c makes sure of that), and each run that begins later
 * either ends with a switch or is still going on at the next look.
 */
int standing_thread__read(pid_t pid, pid_t tid, struct standing_thread *look)
{
	char text[256];
	int error;

	memset(look, 0, sizeof(*look));
	error = read_state(pid, tid, &look->state);
	if (!error)
		error = read_small(pid, tid, "syscall", text, sizeof(text));
	if (!error)
		error = parse_call(text, look);
	if (!error)
		error = count_switches(pid, tid, &look->switches);
	/* SP is 0: a kernel thread, or one whose memory is gone. */
	return error || look->sp ? error : -ESRCH;
}

bool standing_thread__stood(const struct standing_thread *before,
			    const struct standing_thread *after)
{
	return !memcmp(before, after, sizeof(*before));
}

struct mapping {
	uint64_t start, end;
	bool is_heap;
};

/*
 * Finds the mapping that contains `sp` by reading all of them. 0; -ENOENT: there is none; other
 * -errno.
 */
static int search_mapping(pid_t pid, uint64_t sp, struct mapping *found)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *stream;
	int error = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%d/maps", process__memory_id(pid));
	stream = fopen(path, "re");
	if (!stream)
		return proc_error();
	while (error && getline(&line, &room, stream) > 0) {
		int name = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &found->start,
			   &found->end, &name) != 2 ||
		    sp < found->start || sp >= found->end)
			continue;
		found->is_heap = !strcmp(line + name, "[heap]\n");
		error = 0;
	}
	free(line);
	fclose(stream);
	return error;
}

/* The same, but asks the kernel for that mapping alone, if it can: each thread has one. */
static int find_mapping(pid_t pid, uint64_t sp, struct mapping *found)
{
	struct process_mapping mapping;
	int error = process__query_mapping(pid, sp, &mapping);

	if (error == -ENOTTY)
		return search_mapping(pid, sp, found);
	if (error)
		return error;
	*found = (struct mapping){mapping.start, mapping.end, !strcmp(mapping.path, "[heap]")};
	free(mapping.path);
	return 0;
}

/* A numeric field of /proc/PID/stat; 0: unknown. */
static uint64_t stat_number(pid_t pid, int field)
{
	char text[1024];
	const char *at;

	if (read_small(pid, pid, "stat", text, sizeof(text)))
		return 0;
	at = fields_of(text);
	for (int i = 3; at && i < field; i++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

/*
 * Like judge_bounds() in bpf/sample.bpf.h. The robust mutex list, get_robust_list(2), shows where
 * the thread's control block is: glibc keeps the list in it. musl has that list only if there are
 * robust mutexes.
 */
int standing_thread__stack(pid_t pid, pid_t tid, uint64_t sp, struct thread_stack *stack)
{
	struct mapping found = {};
	uint64_t start = stat_number(pid, FIELD_START_STACK), block = 0;
	int error = find_mapping(pid, sp, &found);
	size_t size;
	void *list;

	if (error)
		return error;
	*stack = (struct thread_stack){.low = found.start, .high = found.end};
	stack->is_own = start >= found.start && start < found.end;
	if (!syscall(SYS_get_robust_list, tid, &list, &size))
		block = (uint64_t)(uintptr_t)list;
	if (!block && pid != tid && !found.is_heap &&
	    !musl_thread__stack(pid, sp, found.end, &stack->low, &stack->high)) {
		stack->is_own = true;
		if (stack->low < found.start)
			stack->low = found.start;
		return 0;
	}
	if (block < found.start || block >= found.end)
		return 0;
	if (sp >= block) {
		stack->low = block;
		return 0;
	}
	stack->high = block & ~7ULL;
	if (pid != tid && !found.is_heap)
		stack->is_own = true;
	return 0;
}
