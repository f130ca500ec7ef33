/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Helpers that not every kernel with BPF has, with the release that added each, oldest first. */
static const struct requirement {
	enum bpf_func_id helper; /* include/uapi/linux/bpf.h */
	const char *name;
	const char *since;
} requirements[] = {
	{BPF_FUNC_ringbuf_output, "bpf_ringbuf_output", "5.8"},
	{BPF_FUNC_get_current_task_btf, "bpf_get_current_task_btf", "5.11"},
	{BPF_FUNC_for_each_map_elem, "bpf_for_each_map_elem", "5.13"},
	{BPF_FUNC_task_pt_regs, "bpf_task_pt_regs", "5.15"},
};

#define REQUIREMENTS (sizeof(requirements) / sizeof(*requirements))

void kernel__release(char *release, size_t size)
{
	struct utsname host;

	snprintf(release, size, "%s", uname(&host) ? "?" : host.release);
}

char *kernel__lacks(char *to, size_t size)
{
	const struct requirement *missing[REQUIREMENTS];
	size_t count = 0, length = 0;

	*to = '\0';
	for (size_t i = 0; i < REQUIREMENTS; i++)
		if (!libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, requirements[i].helper,
					     NULL))
			missing[count++] = &requirements[i];
	for (size_t i = 0; i < count && length < size; i++)
		length += snprintf(to + length, size - length, "%s%s",
				   !i               ? ""
				   : i + 1 == count ? " and "
						    : ", ",
				   missing[i]->name);
	if (count && length < size)
		snprintf(to + length, size - length, " (Linux %s and later have %s)",
			 missing[count - 1]->since, count > 1 ? "them" : "it");
	return to;
}

int kernel__btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0;
}

/* The file lists all modes, the current one in brackets: "none [integrity] confidentiality". */
int kernel__lockdown(char *mode, size_t size)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char line[128], *start, *end;
	int error = file ? 0 : -errno;

	*mode = '\0';
	if (error)
		return error;
	if (!fgets(line, sizeof(line), file))
		*line = '\0';
	fclose(file);
	start = strchr(line, '[');
	end = start ? strchr(start, ']') : NULL;
	if (!end)
		return -ENOENT;
	snprintf(mode, size, "%.*s", (int)(end - start - 1), start + 1);
	return 0;
}

/*
 * Lockdown withholds bpf_probe_read_kernel() from all programs: bpf_base_func_proto() in
 * kernel/bpf/helpers.c. libbpf_probe_bpf_helper() is no alternative: that of libbpf 1.1 does not
 * recognise how Linux 6.12 reports this.
 */
int kernel__try_reading(void)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "GPL", program,
			       sizeof(program) / sizeof(*program), NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Reads a number from /proc/sys/kernel. 0 or -errno. */
static int read_setting(const char *name, int *value)
{
	char path[96];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	found = fscanf(file, "%d", value);
	fclose(file);
	return found == 1 ? 0 : -ENODATA;
}

uint32_t kernel__max_sample_rate(void)
{
	int rate;

	return read_setting("perf_event_max_sample_rate", &rate) || rate < 0 ? 0 : (uint32_t)rate;
}

int kernel__paranoia(void)
{
	int level;

	return read_setting("perf_event_paranoid", &level) ? INT_MIN : level;
}

int kernel__proc_is_ours(void)
{
	char id[16];
	ssize_t length = readlink("/proc/self", id, sizeof(id) - 1);

	if (length < 0)
		return 0;
	id[length] = '\0';
	return atoi(id) == getpid();
}

int kernel__try_timer(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}
