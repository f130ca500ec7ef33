/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * empty_timer PID HZ CONTROL ACK: runs a BPF program that does nothing on the timer that luaspy
 * would use, while it is told to: by "resume" and "pause" on the FIFO named CONTROL, which it
 * answers on ACK, as luaspy does. What that costs no sampler can save, so luaspy's cost is measured
 * against it.
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

/* The attributes are those of open_timer() in user/sampler/sampler.c; they have to stay so. */
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

/* The timer, which is off, or a negative error. */
static int make_timer(pid_t tid, uint64_t period_ns)
{
	int program = load_program();
	int timer = open_timer(tid, period_ns);

	if (program < 0 || timer < 0)
		return -errno;
	return bpf_link_create(program, timer, BPF_PERF_EVENT, NULL) < 0 ? -errno : timer;
}

static int obey(int timer, const char *control_path, const char *ack_path)
{
	FILE *control = fopen(control_path, "r+"), *ack = fopen(ack_path, "r+");
	char word[16];

	if (!control || !ack)
		return -errno;
	while (fscanf(control, "%15s", word) == 1) {
		unsigned long request =
			strcmp(word, "resume") ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;

		if (ioctl(timer, request, 0))
			return -errno;
		fprintf(ack, "ok %s\n", word);
		fflush(ack);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 5 ? atoi(argv[1]) : 0;
	long hertz = argc == 5 ? atol(argv[2]) : 0;
	int timer, error;

	if (pid <= 0 || hertz <= 0) {
		fprintf(stderr, "usage: empty_timer PID HZ CONTROL ACK\n");
		return 2;
	}
	timer = make_timer(pid, 1000000000 / hertz);
	error = timer < 0 ? timer : obey(timer, argv[3], argv[4]);
	if (error) {
		fprintf(stderr, "cannot run a timer on %d: %s\n", pid, strerror(-error));
		return 1;
	}
	return 0;
}
