/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command_dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dump.h"
#include "exit_status.h"
#include "log.h"
#include "walk_error.h"
#include "write_dump.h"

#define X(code, class, counter, sentence) [LS_WALK_##code] = sentence,
static const char *const reasons[] = {LS_WALK_ERRORS(X)};
#undef X

/* Why there is no script, by the first thread that may have some. */
static const char *why_empty(const struct dump *dump)
{
	const struct dump_thread *thread = dump->threads;
	const struct dump_thread *end = thread + dump->thread_count;

	for (; thread < end; thread++) {
		if (thread->status == DUMP_THREAD_MISSED)
			return "a thread ran and could not be sampled";
		if (thread->stack.error == LS_WALK_UNDECIDED)
			return "nothing but C functions of Lua's seem to be called, which prove no "
			       "layout (--layout forces one)";
		if (thread->stack.class == LS_SAMPLE_UNREADABLE)
			return reasons[thread->stack.error];
	}
	return dump->options.all
		       ? "no Lua state is active on any of them, or only of a Lua that was "
			 "modified beyond recognition"
		       : "no Lua state is active on any of them, or only of a Lua that was "
			 "modified beyond recognition (--all looks for coroutines, too)";
}

static int show(const struct dump *dump, const struct dump_command_options *options)
{
	int error = options->json ? write_dump__json(dump, stdout) : write_dump__text(dump, stdout);

	if (!error && fflush(stdout))
		error = -errno;
	if (error)
		log_error("cannot write to standard output: %s", strerror(-error));
	return error;
}

int command_dump__run(const struct dump_command_options *options)
{
	struct dump_options dump_options = {
		.pid = options->pid, .layout = options->layout, .all = options->all};
	int status = EXIT_OK;
	struct dump dump;
	int error;

	if (options->pid == getpid()) {
		log_error("cannot dump process %d: that is luaspy itself", options->pid);
		return EXIT_NOTHING;
	}
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
