/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/command_dump.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "command/exit_status.h"
#include "command/named_process.h"
#include "dump/take_dump.h"
#include "dump/write_dump.h"
#include "system/resource_limits.h"
#include "walk_error.h"
#include "worker/supervised.h"

#define X(code, class, counter, sentence) [LS_WALK_##code] = sentence,
static const char *const reasons[] = {LS_WALK_ERRORS(X)};
#undef X

/* Why there is no script, according to the first thread that may have some. */
static const char *why_empty(const struct dump *dump)
{
	const struct dump_thread *thread = dump->threads;
	const struct dump_thread *end = thread + dump->thread_count;

	for (; thread < end; thread++) {
		if (thread->status == DUMP_THREAD_MISSED)
			return "a thread ran and could not be sampled";
		if (thread->stack.error == LS_WALK_UNDECIDED)
			return "only C functions seem to be called, which do not prove a layout "
			       "(--layout forces one)";
		if (thread->stack.class == LS_SAMPLE_UNREADABLE)
			return reasons[thread->stack.error];
	}
	return dump->options.all ? "no interpreter is active on any of them, or only one that was "
				   "modified beyond recognition"
				 : "no interpreter is active on any of them, or only one that was "
				   "modified beyond recognition (--all looks for coroutines, too)";
}

static int show(const struct dump *dump, const struct dump_command_options *options)
{
	int error = options->json ? write_dump__json(dump, stdout) : write_dump__text(dump, stdout);

	if (!error && fflush(stdout))
		error = -errno;
	if (error)
		log_error("cannot write to standard output: %s", resource_limits__reason(error));
	return error;
}

/* Makes luaspy die by the signal, as if it had not used a child. */
static void raise_again(int signal_number)
{
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static int run(void *context)
{
	const struct dump_command_options *options = context;
	struct dump_options dump_options = {.pid = options->pid,
					    .layout = options->layout,
					    .all = options->all,
					    .leaves_source = options->no_source,
					    .leaves_command_lines = options->no_command_lines};
	int status = EXIT_OK;
	struct dump dump;
	int error;

	error = dump__take(&dump_options, &dump);
	if (!error)
		error = show(&dump, options);
	if (error)
		status = error == -ENOENT ? EXIT_NOTHING : EXIT_FAILED;
	else if (!dump__script_threads(&dump) && !dump.coroutine_count) {
		log_error("no script in the stacks of %s: %s", dump.target, why_empty(&dump));
		status = EXIT_NOTHING;
	}
	dump__free(&dump);
	return status;
}

static int run_supervised(const struct dump_command_options *options)
{
	int signal_number, status;

	if (options->pid == getpid()) {
		log_error("cannot dump process %d: that is luaspy itself", options->pid);
		return EXIT_NOTHING;
	}
	status = supervised__run(run, (void *)options, &signal_number);
	if (status >= 0)
		return status;
	if (status == -ETIMEDOUT)
		log_error("cannot dump process %d: its memory or files did not answer within ten "
			  "seconds",
			  options->pid);
	else if (status == -EINTR)
		raise_again(signal_number);
	else
		log_error("cannot start a process: %s", strerror(-status));
	return EXIT_FAILED;
}

int command_dump__run(const struct dump_command_options *options)
{
	struct dump_command_options chosen = *options;
	enum exit_status status;

	if (options->pid)
		return run_supervised(options);
	status = named_process__find(&options->criteria, options->no_command_lines, &chosen.pid);
	return status == EXIT_OK ? run_supervised(&chosen) : (int)status;
}
