/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/resource_limits.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* For an output file and its folder, reads in /proc, and an ELF file and its memory at a time. */
#define FILES_KEPT 16

/*
 * Plus BPF maps, programs and links, which take 25 together with what libbpf opens to probe the
 * kernel; the session's own descriptors; and timers for one target.
 */
#define FILES_LEAST (FILES_KEPT + 48)

#define FILES_TRIED_MAX 128 /* in one call */

static void (*found)(int) = SIG_DFL;
static rlim_t files_most = RLIM_INFINITY;

void resource_limits__survive_file_size(void)
{
	found = signal(SIGXFSZ, SIG_IGN);
}

void resource_limits__restore(void)
{
	signal(SIGXFSZ, found);
}

/* Opens them, because nothing else tells how many descriptors below the limit are in use. */
int resource_limits__try_files(int count)
{
	int files[FILES_TRIED_MAX], opened = 0, error = 0;

	while (opened < count && opened < FILES_TRIED_MAX && !error) {
		files[opened] = dup(STDERR_FILENO);
		if (files[opened] < 0)
			error = errno;
		else
			opened++;
	}
	while (opened)
		close(files[--opened]);
	return error == EMFILE || error == ENFILE ? -error : 0;
}

int resource_limits__raise_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		files_most = limit.rlim_cur;
	}
	return resource_limits__try_files(FILES_LEAST);
}

/* The kernel returns the lowest free descriptor: open(2). */
bool resource_limits__is_last(int file)
{
	return files_most != RLIM_INFINITY && (rlim_t)file + FILES_KEPT >= files_most;
}

bool resource_limits__is_scarce(int file)
{
	return files_most != RLIM_INFINITY && (rlim_t)file >= files_most / 2;
}

bool resource_limits__map_less_than(uint64_t bytes)
{
	struct rlimit limits;

	return !getrlimit(RLIMIT_AS, &limits) && limits.rlim_cur < bytes;
}

const char *resource_limits__reason(int error)
{
	switch (error) {
	case -EMFILE:
		return "too many open files (try a higher 'ulimit -n')";
	case -ENFILE:
		return "too many open files on this host (try a higher 'sysctl fs.file-max')";
	case -EFBIG:
		return "File too large (try a higher 'ulimit -f')";
	}
	return strerror(-error);
}
