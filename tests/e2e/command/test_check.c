/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy check, and the few privileges that a recording needs and keeps. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cmocka.h>

#include "interpreter/family.h"
#include "spying.h"

#define PATIENCE 20
#define ENOUGH   "-all,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore"

/* Starts luaspy with exactly these capabilities, as a user other than root. */
static struct child *start_with(struct stage *stage, const char *capabilities, const char *command,
				pid_t pid)
{
	char inheritable[128], ambient[128], bounding[128], number[16];

	snprintf(inheritable, sizeof(inheritable), "--inh-caps=%s", capabilities);
	snprintf(ambient, sizeof(ambient), "--ambient-caps=%s", capabilities);
	snprintf(bounding, sizeof(bounding), "--bounding-set=%s", capabilities);
	snprintf(number, sizeof(number), "%d", pid);
	assert_int_equal(chmod(stage->folder, 0777), 0);
	return stage__start(stage,
			    (const char *const[]){"setpriv", "--reuid=65534", "--regid=65534",
						  "--clear-groups", inheritable, ambient, bounding,
						  luaspy_program(), command, "-p", number,
						  strcmp(command, "record") ? NULL : "-d1", "-o",
						  "profile.json", NULL});
}

static void describes_this_machine_and_a_process(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	const char *output;
	char number[16];

	need_lua();
	target = start_busy(stage);
	snprintf(number, sizeof(number), "%d", target->pid);
	spy = start(stage, luaspy_program(), "check", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	output = child__output(stage, spy);
	print_message("%s", output);
	assert_null(strstr(output, "FAIL"));
	assert_non_null(strstr(output, "BTF"));
	assert_non_null(strstr(output, "Lua 5.4."));
	assert_non_null(strstr(output, "agreed on by 8 of"));
}

/* A line of check's output begins with `line`: "ok" or another word, then the subject. */
static void assert_says(struct stage *stage, struct child *spy, const char *line)
{
	const char *output = child__output(stage, spy);
	size_t length = strlen(line);

	while (output && strncmp(output, line, length)) {
		output = strchr(output, '\n');
		output += output != NULL;
	}
	if (!output)
		fail_msg("no '%s' in:\n%s%s", line, child__output(stage, spy),
			 child__errors(stage, spy));
}

/* check samples a stack that the kernel set up and one that the C library set up. */
static void samples_its_own_stacks(void **state)
{
	struct child *spy;

	need_to_record();
	spy = start(*state, luaspy_program(), "check");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_says(*state, spy, "ok    samples                 ");
	assert_says(*state, spy, "ok    samples, thread         ");
}

/* Each family has a walker of its own, which a kernel may refuse while it takes the others. */
static void loads_the_walker_of_each_family(void **state)
{
	struct child *spy;

	need_to_record();
	spy = start(*state, luaspy_program(), "check");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		char line[64];

		snprintf(line, sizeof(line), "ok    walker                  %s\n",
			 families__variety(id));
		assert_says(*state, spy, line);
	}
}

/* A walker that the kernel refuses is no reason not to profile the other families. */
static void goes_on_without_a_walker_that_is_refused(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	char command[1024];

	need_lua();
	target = start_busy(stage);
	snprintf(command, sizeof(command),
		 "REFUSED_OBJECT=walk_luajit LD_PRELOAD='%s' exec '%s' check -p %d",
		 built_program("refused_walker.so"), luaspy_program(), target->pid);
	spy = start(stage, "sh", "-c", command);
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_says(stage, spy, "ok    walker                  Lua\n");
	assert_says(stage, spy,
		    "FAIL  walker                  LuaJIT cannot be profiled, see above\n");
	assert_says(stage, spy, "ok    samples                 ");
	assert_says(stage, spy, "ok    layout                  5.4.");
	assert_non_null(strstr(child__errors(stage, spy),
			       "luaspy: cannot load the BPF program for LuaJIT: "));
}

/* If the kernel refused the current programs, luaspy would go on with those for older kernels. */
static void loads_the_programs_for_this_kernel(void **state)
{
	int major = 0, minor = 0;
	struct utsname kernel;
	struct child *spy;

	need_to_record();
	assert_return_code(uname(&kernel), errno);
	sscanf(kernel.release, "%d.%d", &major, &minor);
	spy = start(*state, luaspy_program(), "check");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_says(
		*state, spy,
		major > 6 || (major == 6 && minor > 0)
			? "ok    BPF programs            loaded and attached\n"
			: "ok    BPF programs            loaded and attached, those for kernels");
}

/* In a PID namespace, check knows its own ids only as the namespace numbers them. */
static void samples_its_own_stacks_in_a_container(void **state)
{
	struct child *spy;

	need_to_record();
	need_program("unshare", "util-linux");
	spy = start(*state, "unshare", "--pid", "--fork", "--mount-proc", "--cgroup", "--net",
		    luaspy_program(), "check");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_says(*state, spy, "ok    samples                 ");
	assert_says(*state, spy, "ok    samples, thread         ");
}

/* A container's seccomp filter does this; no capability would help. */
static void reports_a_forbidden_system_call(void **state)
{
	struct child *spy;

	need_to_record();
	spy = start(*state, built_program("forbid"), "bpf", luaspy_program(), "check", "-v");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_says(*state, spy, "ok    kernel                  Linux");
	assert_says(*state, spy, "FAIL  BPF programs");
	assert_non_null(strstr(child__errors(*state, spy),
			       ": permission denied (no capability is missing: a seccomp filter"));
	assert_non_null(strstr(child__errors(*state, spy), "luaspy: debug: libbpf: "));
	spy = start(*state, built_program("forbid"), "perf_event_open", luaspy_program(), "check");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_says(*state, spy, "FAIL  timers");
	assert_says(*state, spy, "ok    BPF programs");
	assert_says(*state, spy, "FAIL  samples                 cannot sample luaspy itself");
}

static void reports_a_process_without_lua(void **state)
{
	struct stage *stage = *state;
	struct child *spy;
	char number[16];

	need_to_record();
	snprintf(number, sizeof(number), "%d", start_other(stage)->pid);
	spy = start(stage, luaspy_program(), "check", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(strstr(child__output(stage, spy), "FAIL  process"));
	assert_non_null(strstr(child__errors(stage, spy), "no interpreter in any of its files"));
}

static void records_with_four_capabilities(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target, *spy;

	need_lua();
	need_program("setpriv", "util-linux");
	target = start_busy(stage);
	spy = start_with(stage, ENOUGH, "record", target->pid);
	if (child__wait(spy, PATIENCE))
		fail_msg("%s", child__errors(stage, spy));
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_true((double)scriptprofile__self_us(profile, NULL, "work", 1) >
		    0.9 * (double)profile->all_us);
}

static void names_the_capability_that_is_missing(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;

	need_lua();
	need_program("setpriv", "util-linux");
	target = start_busy(stage);
	spy = start_with(stage, "-all,+bpf,+sys_ptrace,+dac_read_search,+checkpoint_restore",
			 "record", target->pid);
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_non_null(strstr(child__errors(stage, spy), "missing: CAP_PERFMON;"));
	spy = start_with(stage, "-all,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore",
			 "check", target->pid);
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_non_null(strstr(child__output(stage, spy), "FAIL  CAP_BPF"));
}

/* The CapEff of /proc/PID/status. */
static uint64_t effective(pid_t pid)
{
	char path[32], *text;
	uint64_t capabilities;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	text = read_file(path, NULL);
	assert_int_equal(sscanf(strstr(text, "CapEff:"), "CapEff: %" SCNx64, &capabilities), 1);
	free(text);
	return capabilities;
}

static void drops_capabilities_it_does_not_need_while_sampling(void **state)
{
	const uint64_t sys_admin = UINT64_C(1) << 21, perfmon = UINT64_C(1) << 38;
	const uint64_t sys_ptrace = UINT64_C(1) << 19;
	struct stage *stage = *state;
	struct child *spy;

	need_lua();
	spy = start_record(stage, start_busy(stage)->pid, "-o", "profile.json");
	spying__await_timers(stage, spy);
	assert_int_equal(effective(spy->pid) & (sys_admin | perfmon), 0);
	assert_int_equal(effective(spy->pid) & sys_ptrace, sys_ptrace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(describes_this_machine_and_a_process),
		staged(samples_its_own_stacks),
		staged(loads_the_walker_of_each_family),
		staged(goes_on_without_a_walker_that_is_refused),
		staged(loads_the_programs_for_this_kernel),
		staged(samples_its_own_stacks_in_a_container),
		staged(reports_a_forbidden_system_call),
		staged(reports_a_process_without_lua),
		staged(records_with_four_capabilities),
		staged(names_the_capability_that_is_missing),
		staged(drops_capabilities_it_does_not_need_while_sampling),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
