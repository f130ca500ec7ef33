/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/service.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/processor_speed.h"
#include "worker/confinement.h"

static bool read_all(int fd, void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t count = read(fd, at, size);

		if (count <= 0)
			return false;
		at += count;
		size -= (size_t)count;
	}
	return true;
}

/* Writes both with one call: a system call costs as much as most requests. */
static bool write_all(int fd, const struct service_header *header, const void *bytes)
{
	struct iovec parts[] = {{(void *)header, sizeof(*header)}, {(void *)bytes, header->size}};
	struct iovec *part = parts;

	while (part < parts + 2) {
		ssize_t count = writev(fd, part, (int)(parts + 2 - part));

		if (count <= 0)
			return false;
		while (part < parts + 2 && (size_t)count >= part->iov_len)
			count -= (ssize_t)part++->iov_len;
		if (part < parts + 2) {
			part->iov_base = (char *)part->iov_base + count;
			part->iov_len -= (size_t)count;
		}
	}
	return true;
}

/* Luaspy sends a request only after it has the last answer, so one read() never holds two. */
static bool take_request(int fd, struct message *request)
{
	struct {
		struct service_header header;
		uint8_t bytes[SERVICE_AT_ONCE];
	} first;
	ssize_t count = read(fd, &first, sizeof(first));
	size_t there;
	uint8_t *bytes;

	message__clear(request);
	if (count < (ssize_t)sizeof(first.header))
		return false;
	there = (size_t)count - sizeof(first.header);
	bytes = there <= first.header.size ? message__extend(request, first.header.size) : NULL;
	if (!bytes)
		return false;
	memcpy(bytes, first.bytes, there);
	return read_all(fd, bytes + there, first.header.size - there);
}

static bool give_answer(int fd, const struct message *answer)
{
	struct service_header header = {.size = (uint32_t)answer->size,
					.error = answer->error,
					.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID)};

	/* A truncated answer is worthless. */
	if (answer->error)
		header.size = 0;
	return write_all(fd, &header, answer->bytes);
}

uint64_t service__cpu_ns(void)
{
	return processor_speed__scale(800000000);
}

/* Renews the limit after every tenth of it, so a request has at least nine tenths of the limit. */
static void limit_cpu(uint64_t *limited_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (*limited_ns && now_ns - *limited_ns < service__cpu_ns() / 10)
		return;
	*limited_ns = now_ns;
	confinement__limit_cpu(service__cpu_ns());
}

void service__run(const struct worker_job *job, int fd)
{
	struct message request = {}, answer = {};
	void *state = job->begin();
	uint64_t limited_ns = 0;

	signal(SIGPROF, SIG_DFL);
	while (state && take_request(fd, &request)) {
		limit_cpu(&limited_ns);
		message__clear(&answer);
		job->serve(state, &request, &answer);
		if (!give_answer(fd, &answer))
			break;
	}
}
