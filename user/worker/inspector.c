/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/inspector.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/quarantine.h"
#include "system/processor_speed.h"
#include "system/resource_limits.h"
#include "worker/allowance.h"
#include "worker/service.h"
#include "worker/worker.h"

#define GRANTED_NS UINT64_C(5000000000)

struct inspector {
	const struct worker_job *job;
	struct worker *worker; /* NULL: it reads in this process */
	void *state;           /* of the job; NULL: a worker has it */
	struct allowances *allowances;
	struct message request, answer;
	enum inspector_source source; /* of the request, as is `pid` */
	pid_t pid;
	unsigned int left; /* bit per source whose requests fail */
	bool was_told;     /* a warning said that there is no worker */
	bool is_cut_off;   /* the deadline, or a signal, has cut off a request */
	pid_t pending_pid; /* these two of the request that the worker still serves */
	enum inspector_source pending_source;
};

static struct inspector *make(const struct worker_job *job)
{
	struct inspector *inspector = calloc(1, sizeof(*inspector));

	if (!inspector)
		return NULL;
	inspector->job = job;
	inspector->allowances = allowances__new();
	if (inspector->allowances)
		return inspector;
	free(inspector);
	return NULL;
}

int inspector__start(const struct worker_job *job, struct inspector **started)
{
	struct inspector *inspector = make(job);
	int error = -ENOMEM;

	*started = NULL;
	quarantine__share();
	if (inspector)
		error = worker__start(job, &inspector->worker);
	if (error)
		inspector__free(inspector);
	else
		*started = inspector;
	return error;
}

struct inspector *inspector__new_local(const struct worker_job *job)
{
	struct inspector *inspector = make(job);

	if (!inspector)
		return NULL;
	inspector->state = job->begin();
	if (inspector->state)
		return inspector;
	inspector__free(inspector);
	return NULL;
}

void inspector__free(struct inspector *inspector)
{
	if (!inspector)
		return;
	worker__free(inspector->worker);
	if (inspector->state)
		inspector->job->end(inspector->state);
	allowances__free(inspector->allowances);
	message__free(&inspector->request);
	message__free(&inspector->answer);
	free(inspector);
}

void inspector__set_waiter(struct inspector *inspector, const struct worker_waiter *waiter)
{
	if (inspector->worker)
		worker__set_waiter(inspector->worker, waiter);
}

void inspector__set_deadline(struct inspector *inspector, uint64_t until_ns)
{
	inspector->is_cut_off = false;
	if (inspector->worker)
		worker__set_deadline(inspector->worker, until_ns);
}

void inspector__grant_more(struct inspector *inspector)
{
	allowances__set_grant(inspector->allowances, processor_speed__scale(GRANTED_NS));
}

void inspector__grant_search(struct inspector *inspector)
{
	allowances__set_mapped_grant(inspector->allowances, processor_speed__scale(GRANTED_NS));
}

void inspector__leave(struct inspector *inspector, enum inspector_source source)
{
	inspector->left |= 1U << source;
}

uint64_t inspector__cpu_ns(const struct inspector *inspector)
{
	return inspector->worker ? worker__cpu_ns(inspector->worker) : 0;
}

bool inspector__is_later(int error)
{
	return error == -EAGAIN || error == -EDQUOT || error == -EBUSY;
}

struct message *inspector__request(struct inspector *inspector, enum inspector_source source,
				   uint64_t kind, pid_t pid)
{
	inspector->source = source;
	inspector->pid = pid;
	message__clear(&inspector->request);
	message__put_number(&inspector->request, kind);
	message__put_number(&inspector->request, (uint64_t)pid);
	return &inspector->request;
}

/* The timer that enforces the limit counts in ticks. */
static bool used_its_time(uint64_t spent_ns)
{
	return spent_ns >= service__cpu_ns() / 10 * 9;
}

/* Whether luaspy's own limit on memory (ulimit -v) ended the worker, whose stack could not grow. */
static bool died_of_our_limit(int error, uint64_t spent_ns)
{
	return error == -EIO && !used_its_time(spent_ns) &&
	       resource_limits__map_less_than(WORKER_BYTES);
}

static void blame(struct inspector *inspector, enum inspector_source source, pid_t pid, int error,
		  uint64_t spent_ns)
{
	const char *why = "did not answer within a second";

	if (error == -EIO)
		why = used_its_time(spent_ns) ? "takes too much CPU time to read"
					      : "crashed the process that read it";
	if (quarantine__add_current())
		allowances__ban_file(inspector->allowances, pid, why);
	else if (source == INSPECTOR_COMMANDS)
		allowances__ban_command(inspector->allowances, pid, why);
	else
		allowances__ban(inspector->allowances, pid, why);
}

/* Ends a request that was cut off and is not repeated. */
static int finish_pending(struct inspector *inspector)
{
	uint64_t spent_ns;
	int error = worker__finish(inspector->worker, &inspector->answer, &spent_ns);

	allowances__spend(inspector->allowances, inspector->pending_pid, false, spent_ns);
	if (died_of_our_limit(error, spent_ns))
		return -ENOMEM;
	if (error == -ETIMEDOUT || error == -EIO)
		blame(inspector, inspector->pending_source, inspector->pending_pid, error,
		      spent_ns);
	return error == -EAGAIN ? error : 0;
}

static void tell_no_worker(struct inspector *inspector)
{
	if (!inspector->was_told)
		log_warn("cannot start the process that reads targets: names, lines and "
			 "interpreters are missing from now on (try a higher 'ulimit -u')");
	inspector->was_told = true;
}

static int ask_worker(struct inspector *inspector, uint64_t *spent_ns)
{
	struct worker *worker = inspector->worker;
	int error = 0;

	*spent_ns = 0;
	if (worker__is_busy(worker) && !worker__works_on(worker, &inspector->request))
		error = finish_pending(inspector);
	inspector->is_cut_off |= error == -EAGAIN;
	if (error)
		return error;
	error = worker__call(worker, &inspector->request, &inspector->answer, spent_ns);
	if (error == -ECHILD)
		tell_no_worker(inspector);
	if (error == -EAGAIN) {
		inspector->is_cut_off = true;
		inspector->pending_pid = inspector->pid;
		inspector->pending_source = inspector->source;
	}
	if (died_of_our_limit(error, *spent_ns))
		return -ENOMEM;
	if (error != -ETIMEDOUT && error != -EIO)
		return error;
	blame(inspector, inspector->source, inspector->pid, error, *spent_ns);
	/* Either the file is in quarantine now, so a second try may succeed, or the process is
	 * banned. */
	return -EAGAIN;
}

static void ask_here(struct inspector *inspector, uint64_t *spent_ns)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	message__clear(&inspector->answer);
	inspector->job->serve(inspector->state, &inspector->request, &inspector->answer);
	*spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

/* The worker reached a limit on memory: its own, by what it read, or luaspy's (ulimit -v). */
static int reason_of_full_worker(void)
{
	return resource_limits__map_less_than(WORKER_BYTES) ? -ENOMEM : -EFBIG;
}

int inspector__ask(struct inspector *inspector, struct message **answer)
{
	uint64_t spent_ns = 0;
	int error = inspector->request.error;

	*answer = &inspector->answer;
	/* Every sample asks again about every function in it, so this must cost next to nothing. */
	if (inspector->is_cut_off)
		return -EAGAIN;
	if (!error && inspector->left & 1U << inspector->source)
		error = -ENOTSUP;
	if (!error && inspector->source == INSPECTOR_COMMANDS &&
	    !allowances__takes_command(inspector->allowances, inspector->pid))
		error = -EOWNERDEAD;
	if (!error)
		error = allowances__check(inspector->allowances, inspector->pid,
					  inspector->source != INSPECTOR_FILES);
	if (error)
		return error;
	if (inspector->worker)
		error = ask_worker(inspector, &spent_ns);
	else
		ask_here(inspector, &spent_ns);
	allowances__spend(inspector->allowances, inspector->pid,
			  inspector->source != INSPECTOR_FILES, spent_ns);
	if (error)
		return error;
	error = inspector->answer.error;
	return error == -ENOMEM && inspector->worker ? reason_of_full_worker() : error;
}

void inspector__tell_unread(struct inspector *inspector, pid_t pid)
{
	allowances__tell_unread(inspector->allowances, pid);
}

void inspector__use_up_mapped(struct inspector *inspector, pid_t pid)
{
	allowances__use_up_mapped(inspector->allowances, pid);
}

void inspector__forget_allowance(struct inspector *inspector, pid_t pid)
{
	allowances__forget(inspector->allowances, pid);
}
