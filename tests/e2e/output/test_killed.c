/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A luaspy that is killed leaves nothing behind: nothing in the kernel, and no partial file. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 60
#define IDS_MAX  4096

/* Kernel objects that outlive luaspy if another process holds them: programs, maps, links. */
static const struct kind {
	const char *name, *mark;
	int (*open)(__u32 id);
} kinds[] = {
	{"programs", "\nprog_id:\t", bpf_prog_get_fd_by_id},
	{"maps", "\nmap_id:\t", bpf_map_get_fd_by_id},
	{"links", "\nlink_id:\t", bpf_link_get_fd_by_id},
};

struct ids {
	__u32 items[IDS_MAX];
	int count;
};

static void add_id(struct ids *ids, __u32 id)
{
	for (int i = 0; i < ids->count; i++)
		if (ids->items[i] == id)
			return;
	assert_in_range(ids->count, 0, IDS_MAX - 1);
	ids->items[ids->count++] = id;
}

/* Reads the ids in the fdinfo of luaspy's open files. A link's file also tells its program's id. */
static struct ids list_ids(const struct child *spy, const char *mark)
{
	struct ids ids = {};
	char folder[64], path[400];
	DIR *stream;

	snprintf(folder, sizeof(folder), "/proc/%d/fdinfo", spy->pid);
	stream = opendir(folder);
	assert_non_null(stream);
	for (struct dirent *entry; (entry = readdir(stream));) {
		char *text, *line;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		text = access(path, F_OK) ? NULL : read_file(path, NULL);
		line = text ? strstr(text, mark) : NULL;
		if (line)
			add_id(&ids, (__u32)strtoul(line + strlen(mark), NULL, 10));
		free(text);
	}
	closedir(stream);
	return ids;
}

/* The kernel releases the objects with a delay. */
static void await_gone(const struct kind *kind, const struct ids *ids)
{
	double end = now_seconds() + 10;

	for (int i = 0; i < ids->count; i++) {
		int file;

		while ((file = kind->open(ids->items[i])) >= 0) {
			close(file);
			if (now_seconds() > end)
				fail_msg("%s %u is still there", kind->name, ids->items[i]);
			sleep_seconds(0.05);
		}
		assert_int_equal(errno, ENOENT);
	}
}

static int count_visible_files(const struct stage *stage)
{
	return count_files(stage->folder) - 2 * stage->count;
}

static void end_by_force(struct child *spy)
{
	kill(spy->pid, SIGKILL);
	assert_int_equal(child__wait(spy, PATIENCE), 128 + SIGKILL);
}

static void leaves_nothing_in_the_kernel(void **state)
{
	struct stage *stage = *state;
	struct child *busy, *spies[2];
	struct ids ids[2][3];
	int visible;

	need_lua();
	busy = start_busy(stage);
	visible = count_visible_files(stage);
	spies[0] = start_record(stage, busy->pid, "-o", "x.json");
	spies[1] = start(stage, luaspy_program(), "record", "--system", "-o", "y.json");
	for (int i = 0; i < 2; i++) {
		spying__await_timers(stage, spies[i]);
		for (int kind = 0; kind < 3; kind++) {
			ids[i][kind] = list_ids(spies[i], kinds[kind].mark);
			print_message("%d %s%s", ids[i][kind].count, kinds[kind].name,
				      kind < 2 ? ", " : "\n");
			assert_in_range(ids[i][kind].count, 1, IDS_MAX);
		}
	}
	for (int i = 0; i < 2; i++) {
		end_by_force(spies[i]);
		/* A perf event on a thread would hold its program; so none is left either. */
		for (int kind = 0; kind < 3; kind++)
			await_gone(&kinds[kind], &ids[i][kind]);
	}
	/* The target must not be affected. */
	child__let_work(busy, 0.1);
	assert_int_equal(count_visible_files(stage), visible);
}

/* The `number`th entry to, or exit from, this system call. */
struct moment {
	const char *name;
	long call; /* SYS_..., or -1: during sampling, at no call */
	int number;
	uint8_t op;    /* PTRACE_SYSCALL_INFO_ENTRY or _EXIT */
	bool is_whole; /* the file is complete by then */
};

static const struct moment moments[] = {
	{"while it samples", -1, 0, 0, false},
	{"before it is written", SYS_write, 1, PTRACE_SYSCALL_INFO_ENTRY, false},
	{"after the first write", SYS_write, 1, PTRACE_SYSCALL_INFO_EXIT, false},
	{"at the tenth write", SYS_write, 10, PTRACE_SYSCALL_INFO_ENTRY, false},
	{"before it has its name", SYS_linkat, 1, PTRACE_SYSCALL_INFO_ENTRY, false},
	{"once it has its name", SYS_linkat, 1, PTRACE_SYSCALL_INFO_EXIT, true},
	{"at its end", SYS_exit_group, 1, PTRACE_SYSCALL_INFO_ENTRY, true},
};

/* Whether the main thread is stopped at the call and side that `moment` names. */
static bool is_at(pid_t pid, const struct moment *moment, long *call)
{
	struct __ptrace_syscall_info info = {};

	/* The result is shorter than `info` at the exit of a call, which has fewer fields. */
	assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) > 0);
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		*call = (long)info.entry.nr;
	return info.op == moment->op && *call == moment->call;
}

/* Waits for a stop and returns the signal to deliver; 0 at a system call or a requested stop. */
static int await_stop(pid_t pid)
{
	siginfo_t info = {};
	int status;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
	if (info.si_code != CLD_TRAPPED)
		fail_msg("process %d has ended", pid);
	assert_int_equal(waitpid(pid, &status, __WALL), pid);
	return status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
}

/* Sends SIGTERM and lets it run until that moment. */
static void end_until(pid_t pid, const struct moment *moment)
{
	long call = -1;
	int seen = 0;

	if (moment->call < 0)
		return;
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	await_stop(pid);
	kill(pid, SIGTERM);
	for (int signal = 0; seen < moment->number;) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal), 0);
		signal = await_stop(pid);
		seen += !signal && is_at(pid, moment, &call);
	}
}

/* So many functions that a file is written in far more than ten parts. */
static const char many_functions[] =
	"local lines = {}\n"
	"for i = 1, 500 do lines[i] = ('function f%d(n) for _ = 1, n do end end'):format(i) end\n"
	"load(table.concat(lines, '\\n'), '@many.lua')()\n"
	"while true do for i = 1, 500 do _G['f' .. i](5000) end end\n";

static void leaves_no_partial_file(void **state)
{
	struct stage *stage = *state;
	struct child *busy;

	need_lua();
	busy = start_lua(stage, many_functions);
	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		struct child *spy =
			start_record(stage, busy->pid, "-F", "10khz", "--timeline", "-o", "x.json");

		spying__await_timers(stage, spy);
		child__let_work(busy, 0.3);
		end_until(spy->pid, &moments[i]);
		end_by_force(spy);
		print_message("killed %s\n", moments[i].name);
		assert_int_equal(count_visible_files(stage), moments[i].is_whole);
		if (!moments[i].is_whole)
			continue;
		spying__read(stage, in_folder(stage, "x.json"));
		unlink(in_folder(stage, "x.json"));
	}
}

/* The FIFO for commands stays in its folder; the next luaspy must accept it as it is. */
static void leaves_a_fifo_that_the_next_luaspy_accepts(void **state)
{
	struct stage *stage = *state;
	struct child *busy, *spy;

	need_lua();
	busy = start_busy(stage);
	spy = start_record(stage, busy->pid, "--control", "commands", "-o", "x.json");
	spying__await_timers(stage, spy);
	/* After this, the FIFO has no reader. */
	end_by_force(spy);
	assert_int_equal(count_visible_files(stage), 1);
	spy = start_record(stage, busy->pid, "--control", "commands", "-o", "x.json");
	spying__await_timers(stage, spy);
	child__let_work(busy, 0.1);
	assert_int_equal(child__wait(start(stage, "sh", "-c", "echo stop >commands"), PATIENCE), 0);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	spying__read(stage, in_folder(stage, "x.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(leaves_nothing_in_the_kernel),
		staged(leaves_no_partial_file),
		staged(leaves_a_fifo_that_the_next_luaspy_accepts),
	};

	return cmocka_run_group_tests_name("killed", tests, NULL, NULL);
}
