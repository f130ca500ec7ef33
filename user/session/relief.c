/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "relief.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "priority.h"

#define EMPTY_MS 20

struct relief {
	int (*empty)(void *context);
	void *context;
	int end_fd; /* polls readable when it is to end */
	pthread_t thread;
};

static void *work(void *argument)
{
	struct relief *relief = argument;
	struct pollfd end = {.fd = relief->end_fd, .events = POLLIN};

	priority__raise();
	while (!poll(&end, 1, EMPTY_MS) && !relief->empty(relief->context))
		;
	return NULL;
}

struct relief *relief__begin(int (*empty)(void *context), void *context)
{
	struct relief *relief = calloc(1, sizeof(*relief));

	if (!relief)
		return NULL;
	relief->empty = empty;
	relief->context = context;
	relief->end_fd = eventfd(0, EFD_CLOEXEC);
	if (relief->end_fd < 0)
		goto cleanup;
	if (!pthread_create(&relief->thread, NULL, work, relief))
		return relief;
	close(relief->end_fd);
cleanup:
	free(relief);
	return NULL;
}

void relief__end(struct relief *relief)
{
	if (!relief)
		return;
	eventfd_write(relief->end_fd, 1);
	pthread_join(relief->thread, NULL);
	close(relief->end_fd);
	free(relief);
}
