/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "standing_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "musl_thread.h"

/* Of /proc/PID/stat, proc(5); the state, behind the name, is number 3. */
#define FIELD_START_STACK 28

static int proc_error(void)
{
	return errno == ENOENT ? -ESRCH : -errno;
}

/* What a small file of the thread holds, ended by NUL. 0 or -errno. */
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

/* Where the fields behind the name begin; a name may hold anything. NULL: nowhere. */
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

int standing_thread__look(pid_t pid, pid_t tid, struct standing_thread *look)
{
	char text[256];
	int error;

	memset(look, 0, sizeof(*look));
	error = read_state(pid, tid, &look->state);
	if (!error)
		error = read_small(pid, tid, "schedstat", text, sizeof(text));
	if (!error &&
	    sscanf(text, "%" SCNu64 " %*u %" SCNu64, &look->runtime_ns, &look->slices) != 2)
		error = -EPROTO;
	if (!error)
		error = read_small(pid, tid, "syscall", text, sizeof(text));
	if (!error)
		error = parse_call(text, look);
	/* A kernel thread, or one whose memory is gone. */
	return error || look->sp ? error : -ESRCH;
}

bool standing_thread__stood(const struct standing_thread *before,
			    const struct standing_thread *after)
{
	return !memcmp(before, after, sizeof(*before));
}

struct mapping {
	uint64_t start, end;
};

/* The mapping that `sp` is in, and what of the address space is heap. 0, -ENOENT or -errno. */
static int find_mapping(pid_t pid, uint64_t sp, struct mapping *found, struct mapping *heap)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *stream;
	int error = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	stream = fopen(path, "re");
	if (!stream)
		return proc_error();
	while (getline(&line, &room, stream) > 0) {
		struct mapping mapping;

		int name = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &mapping.start,
			   &mapping.end, &name) != 2)
			continue;
		if (sp >= mapping.start && sp < mapping.end) {
			*found = mapping;
			error = 0;
		}
		if (!strcmp(line + name, "[heap]\n"))
			*heap = (struct mapping){heap->start ? heap->start : mapping.start,
						 mapping.end};
	}
	free(line);
	fclose(stream);
	return error;
}

/* A number of /proc/PID/stat; 0: unknown. */
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
 * As judge_bounds() of bpf/sample.bpf.h. Where the thread's control block lies is told by the list
 * of its robust mutexes, which glibc keeps in it; musl has that list only when there are some.
 */
int standing_thread__stack(pid_t pid, pid_t tid, uint64_t sp, struct thread_stack *stack)
{
	struct mapping found = {}, heap = {};
	uint64_t start = stat_number(pid, FIELD_START_STACK), block = 0;
	int error = find_mapping(pid, sp, &found, &heap);
	size_t size;
	void *list;

	if (error)
		return error;
	*stack = (struct thread_stack){.low = found.start, .high = found.end};
	stack->is_own = start >= found.start && start < found.end;
	if (!syscall(SYS_get_robust_list, tid, &list, &size))
		block = (uint64_t)(uintptr_t)list;
	if (!block && pid != tid && (found.end <= heap.start || found.start >= heap.end) &&
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
	if (pid != tid && (found.end <= heap.start || found.start >= heap.end))
		stack->is_own = true;
	return 0;
}
