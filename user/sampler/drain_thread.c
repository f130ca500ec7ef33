/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/drain_thread.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "system/priority.h"

#define EMPTY_MS 20

struct drain_thread {
	int (*empty)(void *context);
	void *context;
	int end_fd; /* polls readable when the thread is to end */
	pthread_t thread;
};

static void *work(void *argument)
{
	struct drain_thread *drain_thread = argument;
	struct pollfd end = {.fd = drain_thread->end_fd, .events = POLLIN};

	priority__raise();
	while (!poll(&end, 1, EMPTY_MS) && !drain_thread->empty(drain_thread->context))
		;
	return NULL;
}

struct drain_thread *drain_thread__begin(int (*empty)(void *context), void *context)
{
	struct drain_thread *drain_thread = calloc(1, sizeof(*drain_thread));

	if (!drain_thread)
		return NULL;
	drain_thread->empty = empty;
	drain_thread->context = context;
	drain_thread->end_fd = eventfd(0, EFD_CLOEXEC);
	if (drain_thread->end_fd < 0)
		goto cleanup;
	if (!pthread_create(&drain_thread->thread, NULL, work, drain_thread))
		return drain_thread;
	close(drain_thread->end_fd);
cleanup:
	free(drain_thread);
	return NULL;
}

void drain_thread__end(struct drain_thread *drain_thread)
{
	if (!drain_thread)
		return;
	eventfd_write(drain_thread->end_fd, 1);
	pthread_join(drain_thread->thread, NULL);
	close(drain_thread->end_fd);
	free(drain_thread);
}
