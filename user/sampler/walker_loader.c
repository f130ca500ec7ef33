/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/walker_loader.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "luaspy.skel.h"
#include "process/process.h"
#include "sampler/load_failure.h"
#include "system/descriptors.h"
#include "system/helper_process.h"
#include "system/privileges.h"

/* More maps than the core has. */
#define MAPS_MOST 64

struct walker_loader {
	pid_t pid;
	int fd;
	uint64_t cpu_ns; /* as far as is known, if it has ended */
};

/* The files of the walker come with it, unless there is an error. */
struct answer {
	uint32_t family;
	int error;
	char why[LOAD_FAILURE_SIZE];
};

/* Keeps the maps that walkers share, and standard error for what the verifier says (-v). */
static void close_files(const struct programs *programs, int fd)
{
	int kept[MAPS_MOST + 1] = {fd};
	struct bpf_map *map;
	size_t count = 1;

	bpf_object__for_each_map(map, programs->core->obj)
	{
		if (count <= MAPS_MOST)
			kept[count++] = bpf_map__fd(map);
	}
	helper_process__close_files(kept, count, STDERR_FILENO);
}

static int answer_request(const struct programs *programs, int fd, uint32_t family)
{
	struct answer answer = {.family = family};
	struct walker_files walker;
	int error;

	answer.error = programs__open_walker(programs, family, &walker);
	if (answer.error) {
		load_failure__explain(answer.error, answer.why, sizeof(answer.why));
		return descriptors__send(fd, &answer, sizeof(answer), NULL, 0);
	}
	error = descriptors__send(fd, &answer, sizeof(answer),
				  (const int[]){walker.program, walker.layouts}, 2);
	walker_files__close(&walker);
	return error;
}

static void __attribute__((noreturn)) serve(const struct programs *programs, int fd)
{
	uint32_t family;

	prctl(PR_SET_NAME, "luaspy-loader");
	helper_process__ignore_signals();
	close_files(programs, fd);
	privileges__keep_loading();
	while (read(fd, &family, sizeof(family)) == sizeof(family))
		if (answer_request(programs, fd, family))
			break;
	_exit(0);
}

int walker_loader__start(const struct programs *programs, struct walker_loader **started)
{
	struct walker_loader *loader = calloc(1, sizeof(*loader));
	int ends[2], error = loader ? 0 : -ENOMEM;

	*started = NULL;
	if (!error && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		error = -errno;
	if (error)
		goto cleanup;
	loader->fd = ends[0];
	loader->pid = fork();
	if (!loader->pid)
		serve(programs, ends[1]);
	close(ends[1]);
	if (loader->pid > 0) {
		*started = loader;
		return 0;
	}
	error = -errno;
	close(ends[0]);
cleanup:
	free(loader);
	return error;
}

void walker_loader__free(struct walker_loader *loader)
{
	if (!loader)
		return;
	close(loader->fd);
	kill(loader->pid, SIGKILL); /* it may be loading a walker that nobody needs any more */
	waitpid(loader->pid, NULL, 0);
	free(loader);
}

/* Closes what a faulty answer brought. */
static int refuse(const int *fds, int count)
{
	while (count-- > 0)
		close(fds[count]);
	return -EPROTO;
}

int walker_loader__fd(const struct walker_loader *loader)
{
	return loader ? loader->fd : -1;
}

int walker_loader__request(const struct walker_loader *loader, uint32_t family)
{
	return send(loader->fd, &family, sizeof(family), MSG_NOSIGNAL) == sizeof(family) ? 0
											 : -errno;
}

int walker_loader__receive(const struct walker_loader *loader, uint32_t *family,
			   struct walker_files *walker, char *why, size_t size)
{
	int fds[DESCRIPTORS_MOST], count;
	struct answer answer = {};

	count = descriptors__receive(loader->fd, &answer, sizeof(answer), fds);
	if (count < 0) {
		snprintf(why, size, "the process that loads BPF programs has ended");
		return count;
	}
	*family = answer.family;
	if (count != (answer.error ? 0 : 2))
		answer.error = refuse(fds, count);
	if (!answer.error)
		*walker = (struct walker_files){.program = fds[0], .layouts = fds[1]};
	answer.why[sizeof(answer.why) - 1] = '\0';
	snprintf(why, size, "%s", *answer.why ? answer.why : strerror(-answer.error));
	return answer.error;
}

uint64_t walker_loader__cpu_ns(struct walker_loader *loader)
{
	uint64_t cpu_ns;

	if (!loader)
		return 0;
	if (!process__runtime_ns(loader->pid, &cpu_ns) && cpu_ns > loader->cpu_ns)
		loader->cpu_ns = cpu_ns;
	return loader->cpu_ns;
}
