/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "interpreter/detection.h"
#include "skip.h"
#include "stage.h"

#define MS UINT64_C(1000000)

/* Shared with the worker, which keeps what it has read to itself while this is set. */
static atomic_bool *is_held;

static void serve_late(void *state, struct message *request, struct message *answer)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	inspection_job.serve(state, request, answer);
	while (atomic_load(is_held))
		nanosleep(&moment, NULL);
}

static void free_inspector(void *inspector)
{
	inspector__free(inspector);
}

static struct inspector *start_late_inspector(struct stage *stage)
{
	struct worker_job *late = stage__own(stage, malloc(sizeof(*late)), free);
	struct inspector *inspector;

	is_held = mmap(NULL, sizeof(*is_held), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_ptr_not_equal(is_held, MAP_FAILED);
	*late = inspection_job;
	late->serve = serve_late;
	assert_return_code(inspector__start(late, &inspector), -errno);
	return stage__own(stage, inspector, free_inspector);
}

static void free_detection(void *detection)
{
	detection__free(detection);
}

/* Has the shell inspected, lets it execute Lua, and only then lets the answer come. */
static void find_what_was_executed_meanwhile(void **state)
{
	struct stage *stage = *state;
	struct detection_options options = {.is_child = true};
	struct layout_votes votes = {};
	struct detection *detection;
	struct inspector *inspector;
	struct child *child;

	need_program("/usr/bin/lua5.4", "lua5.4");
	child = start(stage, "sh", "-c",
		      "echo shell; read line; exec lua5.4 -e 'print(_VERSION) io.read()'");
	inspector = start_late_inspector(stage);
	options.pid = child->pid;
	options.inspector = inspector;
	detection = stage__own(stage, detection__new(&options), free_detection);
	child__await_output(stage, child, "shell");
	atomic_store(is_held, true);
	inspector__set_deadline(inspector, clock_ns(CLOCK_MONOTONIC) + 300 * MS);
	assert_int_equal(detection__run(detection, "child"), -EAGAIN);
	child__tell(child, "go");
	child__await_output(stage, child, "Lua 5.4");
	child__await_state(stage, child, 'S');
	atomic_store(is_held, false);

	inspector__set_deadline(inspector, UINT64_MAX);
	for (int i = 0; i < 100 && !detection__found(detection); i++) {
		detection__notice(detection, &votes, "child");
		sleep_seconds(0.01);
	}
	assert_non_null(detection__found(detection));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(find_what_was_executed_meanwhile),
	};

	return cmocka_run_group_tests_name("detection", tests, NULL, NULL);
}
