/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "kernel.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

int kernel__release(char *release, size_t size)
{
	struct utsname host;
	int major, minor;

	*release = '\0';
	if (uname(&host))
		return 0;
	snprintf(release, size, "%s", host.release);
	if (sscanf(host.release, "%d.%d", &major, &minor) != 2)
		return 0;
	return major > KERNEL_NEEDED_MAJOR ||
	       (major == KERNEL_NEEDED_MAJOR && minor >= KERNEL_NEEDED_MINOR);
}

int kernel__btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0;
}

/* The file holds all modes, that in force in brackets: "none [integrity] confidentiality". */
int kernel__lockdown(char *mode, size_t size)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char line[128], *start, *end;
	int error = file ? 0 : -errno;

	*mode = '\0';
	if (error)
		return error;
	if (!fgets(line, sizeof(line), file))
		*line = '\0';
	fclose(file);
	start = strchr(line, '[');
	end = start ? strchr(start, ']') : NULL;
	if (!end)
		return -ENOENT;
	snprintf(mode, size, "%.*s", (int)(end - start - 1), start + 1);
	return 0;
}

/* A number of /proc/sys/kernel. 0 or -errno. */
static int read_setting(const char *name, int *value)
{
	char path[96];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	found = fscanf(file, "%d", value);
	fclose(file);
	return found == 1 ? 0 : -ENODATA;
}

uint32_t kernel__max_sample_rate(void)
{
	int rate;

	return read_setting("perf_event_max_sample_rate", &rate) || rate < 0 ? 0 : (uint32_t)rate;
}

int kernel__paranoia(void)
{
	int level;

	return read_setting("perf_event_paranoid", &level) ? INT_MIN : level;
}

int kernel__proc_is_ours(void)
{
	char id[16];
	ssize_t length = readlink("/proc/self", id, sizeof(id) - 1);

	if (length < 0)
		return 0;
	id[length] = '\0';
	return atoi(id) == getpid();
}

int kernel__try_timer(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}
