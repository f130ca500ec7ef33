/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The main loop of a worker: reads requests from its socket and answers them. */
#ifndef LS_SERVICE_H
#define LS_SERVICE_H

#include <stdint.h>

#include "worker/worker.h"

/* Precedes each request and each answer. */
struct service_header {
	uint32_t size;   /* bytes that follow */
	int32_t error;   /* of an answer: 0 or -errno */
	uint64_t cpu_ns; /* of an answer: what the worker has used so far */
};

/* Bytes that are read together with the header, so that most messages take one system call. */
#define SERVICE_AT_ONCE 2048

/*
 * CPU time after which a request is aborted. On a server, it is 0.8 s, five times the most that an
 * honest request took; slower machines have more (processor_speed.h).
 */
uint64_t service__cpu_ns(void);

/* Returns when luaspy closes the socket. */
void service__run(const struct worker_job *job, int fd);

#endif
