/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * empty_timer PID HZ: runs a BPF program that does nothing on the timer that luaspy would use,
 * until it is killed. What that costs no sampler can save, so luaspy's cost is measured against it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int load_program(void)
{
	const struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "empty", "GPL", instructions, 2, NULL);
}

/* The attributes are those of open_timer() in user/session/sampler.c; they have to stay so. */
static int open_timer(pid_t tid, uint64_t period_ns)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period_ns,
		.inherit = 1,
		.inherit_thread = 1,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int start_timer(pid_t tid, uint64_t period_ns)
{
	int program = load_program();
	int timer = open_timer(tid, period_ns);

	if (program < 0 || timer < 0)
		return -errno;
	if (bpf_link_create(program, timer, BPF_PERF_EVENT, NULL) < 0)
		return -errno;
	return ioctl(timer, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 3 ? atoi(argv[1]) : 0;
	long hertz = argc == 3 ? atol(argv[2]) : 0;
	int error;

	if (pid <= 0 || hertz <= 0) {
		fprintf(stderr, "usage: empty_timer PID HZ\n");
		return 2;
	}
	error = start_timer(pid, 1000000000 / hertz);
	if (error) {
		fprintf(stderr, "cannot start a timer on %d: %s\n", pid, strerror(-error));
		return 1;
	}
	for (;;)
		pause();
}
