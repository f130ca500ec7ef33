/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/command_check.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "command/exit_status.h"
#include "command/named_process.h"
#include "interpreter/family.h"
#include "sampler/self_sample.h"
#include "session/session.h"
#include "session/session_profile.h"
#include "system/kernel.h"
#include "system/privileges.h"
#include "system/resource_limits.h"

#define SUBJECT_WIDTH 22 /* "CAP_CHECKPOINT_RESTORE" */

/* How long a process may take to run script before its layout is left undecided. */
#define PATIENCE_NS UINT64_C(2000000000)

static const char *const sentences[] = {
#define X(code, class, counter, sentence) [LS_WALK_##code] = sentence,
	LS_WALK_ERRORS(X)
#undef X
};

enum finding { FINE, NOTE, WRONG };

struct check {
	int wrong;
	int refused_walkers; /* of these; the other families can be profiled all the same */
};

/* Prints one line. Text from the target is escaped. */
__attribute__((format(printf, 4, 5))) static void say(struct check *check, enum finding finding,
						      const char *subject, const char *format, ...)
{
	static const char *const words[] = {"ok", "note", "FAIL"};
	char text[512], printable[600];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("%-4s  %-*s  %s\n", words[finding], SUBJECT_WIDTH, subject,
	       log__printable(text, printable, sizeof(printable)));
	check->wrong += finding == WRONG;
}

static void check_kernel(struct check *check)
{
	char release[128], lacking[160], mode[32];

	kernel__release(release, sizeof(release));
	if (*kernel__lacks(lacking, sizeof(lacking)))
		say(check, WRONG, "kernel", "Linux %s lacks %s", release, lacking);
	else
		say(check, FINE, "kernel", "Linux %s", release);
	if (!kernel__btf())
		say(check, FINE, "BTF", "'/sys/kernel/btf/vmlinux'");
	else
		say(check, WRONG, "BTF",
		    "cannot read '/sys/kernel/btf/vmlinux' (a kernel with CONFIG_DEBUG_INFO_BTF, "
		    "as distributions build it)");
	if (access("/proc/self/schedstat", F_OK))
		say(check, NOTE, "schedstat",
		    "this kernel has none: the CPU time of a thread before a recording and at "
		    "its end is known to 20 ms only (a kernel with CONFIG_SCHED_INFO, as "
		    "distributions build it)");
	if (!kernel__lockdown(mode, sizeof(mode)))
		say(check, strcmp(mode, "confidentiality") ? FINE : NOTE, "lockdown", "%s", mode);
}

static void check_privileges(struct check *check)
{
	uint64_t capabilities;

	privileges__effective(&capabilities);
	for (size_t i = 0; i < PRIVILEGE_COUNT; i++) {
		const struct privilege *privilege = &privileges[i];
		bool has = privileges__has(capabilities, i);
		enum finding finding = has ? FINE : privilege->is_needed ? WRONG : NOTE;

		say(check, finding, privilege->name, "%s%s", privilege->purpose,
		    has ? "" : " (missing: try sudo, or 'setcap' on the program)");
	}
}

static void check_namespaces(struct check *check)
{
	if (!kernel__proc_is_ours())
		say(check, WRONG, "/proc",
		    "shows the processes of another PID namespace (mount that of this one: "
		    "'mount -t proc proc /proc')");
	if (privileges__are_namespaced())
		say(check, NOTE, "user namespace",
		    "its capabilities are not the host's, which BPF and timers need (run luaspy "
		    "outside of it)");
}

static void check_timers(struct check *check)
{
	uint32_t rate = kernel__max_sample_rate();
	int error = kernel__try_timer(), paranoia = kernel__paranoia();

	if (error)
		say(check, WRONG, "timers",
		    "cannot start one: %s (kernel.perf_event_paranoid is %d: try sudo, or "
		    "CAP_PERFMON)",
		    resource_limits__reason(error), paranoia);
	else if (rate && rate < 10000)
		say(check, NOTE, "timers",
		    "at most %u Hz (raise it by 'sysctl kernel.perf_event_max_sample_rate=100000')",
		    rate);
	else
		say(check, FINE, "timers", "task-clock, up to 20000 Hz");
}

/* A kernel may accept the programs and yet not let them read a stack, as real-time kernels do. */
static void check_sample(struct check *check, const char *subject, const struct self_sample *result)
{
	uint64_t all = 0, read = result->classes[LS_SAMPLE_HOST];

	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		all += result->classes[i];
	if (result->attach_error)
		say(check, WRONG, subject, "cannot sample luaspy itself: %s",
		    resource_limits__reason(result->attach_error));
	else if (!all)
		say(check, WRONG, subject,
		    "none came of luaspy itself in two seconds of work (the kernel does not run "
		    "its timers)");
	else if (!read)
		say(check, WRONG, subject, "none of %" PRIu64 " of luaspy itself was readable: %s",
		    all, sentences[result->error % LS_WALK_ERROR_COUNT]);
	else
		say(check, read < all ? NOTE : FINE, subject,
		    "%" PRIu64 " of %" PRIu64 " samples of luaspy itself were readable%s%s", read,
		    all, read < all ? "; else: " : "",
		    read < all ? sentences[result->error % LS_WALK_ERROR_COUNT] : "");
}

/* The walkers of the families are programs of their own, and a kernel may refuse one of them. */
static void check_walkers(struct check *check, const struct self_test *test)
{
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		const char *family = families__variety(id);

		if (!test->walkers[id]) {
			say(check, FINE, "walker", "%s", family);
			continue;
		}
		say(check, WRONG, "walker", "%s cannot be profiled, see above", family);
		check->refused_walkers++;
	}
}

static void check_programs(struct check *check)
{
	struct self_test test;

	if (self_sample__take(&test)) {
		say(check, WRONG, "BPF programs", "the kernel refuses them, see above");
		return;
	}
	say(check, FINE, "BPF programs", "loaded and attached%s",
	    test.is_old ? ", those for kernels before 6.1" : "");
	check_walkers(check, &test);
	check_sample(check, "samples", &test.main_thread);
	check_sample(check, "samples, thread", &test.other_thread);
}

/* Samples for up to PATIENCE_NS: only a stack of the running program decides the layout. */
static int check_process(struct check *check, pid_t pid, bool no_command_lines)
{
	const struct target_choice choice = {
		.pids = {pid}, .pid_count = 1, .no_command_lines = no_command_lines};
	const struct session_options options = {
		.targets = &choice,
		.sampling = {.period_ns = 1000000, .max_depth = 512},
		.duration_ns = PATIENCE_NS,
		.ends_when_decided = true,
	};
	struct ls_profile profile = {};
	struct session *session;
	int error = session__open(&options, &session);

	if (error) {
		say(check, WRONG, "process", "%d cannot be profiled, see above", pid);
		return error;
	}
	error = session__run(session);
	session__export(session, &profile);
	say(check, FINE, "process", "%s", session__target(session));
	say(check, FINE, "interpreter", "%s", profile.recorder.interpreter);
	if (error)
		say(check, WRONG, "layout", "no known layout fits, see above");
	else if (profile.recorder.layout)
		say(check, FINE, "layout", "%s", profile.recorder.layout);
	else
		say(check, NOTE, "layout", "undecided until script runs (%s)",
		    session__why_empty(session));
	session__close(session);
	return error;
}

int command_check__run(const struct check_options *options)
{
	struct check check = {};
	pid_t pid = options->pid;
	enum exit_status status =
		options->criteria.name
			? named_process__find(&options->criteria, options->no_command_lines, &pid)
			: EXIT_OK;
	int error = 0;

	if (status != EXIT_OK)
		return status;
	check_kernel(&check);
	check_privileges(&check);
	check_namespaces(&check);
	check_timers(&check);
	check_programs(&check);
	if (pid && check.wrong == check.refused_walkers)
		error = check_process(&check, pid, options->no_command_lines);
	if (fflush(stdout))
		return EXIT_FAILED;
	if (error == -ENOENT)
		return EXIT_NOTHING;
	return check.wrong ? EXIT_FAILED : EXIT_OK;
}
