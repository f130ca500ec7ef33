/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAPPING_MAX (256ULL << 20)

int capture__start(struct capture *capture, const char *program, const char *script)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	capture->pid = fork();
	if (!capture->pid) {
		dup2(pipes[1], STDOUT_FILENO);
		execlp(program, program, script, NULL);
		_exit(127);
	}
	close(pipes[1]);
	capture->output = pipes[0];
	if (capture->pid < 0 || ptrace(PTRACE_SEIZE, capture->pid, NULL, NULL))
		return -errno;
	return 0;
}

void capture__end(struct capture *capture)
{
	if (capture->pid > 0) {
		kill(capture->pid, SIGKILL);
		waitpid(capture->pid, NULL, 0);
	}
	close(capture->output);
}

int capture__stop(const struct capture *capture)
{
	int status;

	/* Fails the first time, when the process is not stopped. */
	ptrace(PTRACE_CONT, capture->pid, NULL, NULL);
	usleep(2000);
	if (ptrace(PTRACE_INTERRUPT, capture->pid, NULL, NULL) ||
	    waitpid(capture->pid, &status, 0) != capture->pid)
		return -errno;
	return WIFSTOPPED(status) ? 0 : -ESRCH;
}

/* Takes SP and what BPF has in scratch->registers. */
static void take_registers(const struct capture *capture, struct image *image)
{
	struct user_regs_struct registers;
	struct iovec vector = {.iov_base = &registers, .iov_len = sizeof(registers)};

	assert_int_equal(ptrace(PTRACE_GETREGSET, capture->pid, (void *)NT_PRSTATUS, &vector), 0);
#ifdef __aarch64__
	image->register_count = 31;
#else
	image->register_count = 15;
#endif
	memcpy(image->registers, &registers, image->register_count * 8);
	image->sp = (registers.
#ifdef __aarch64__
		     sp
#else
		     rsp
#endif
		     + 7) &
		    ~7ULL;
}

static void take_mapping(int memory, struct image *image, uint64_t start, uint64_t end)
{
	uint8_t page[MEMORY_PAGE];

	assert_in_range(end - start, MEMORY_PAGE, MAPPING_MAX);
	memory__map(&image->memory, start, end - start);
	for (uint64_t at = start; at < end; at += MEMORY_PAGE)
		if (pread(memory, page, sizeof(page), (off_t)at) == sizeof(page))
			memory__put_bytes(&image->memory, at, page, sizeof(page));
	if (image->sp >= start && image->sp < end) {
		image->stack_low = start;
		image->stack_high = end;
	}
}

void capture__take(const struct capture *capture, const struct ls_puc_layout *layout,
		   struct image *image)
{
	char path[64], line[4096], access[5];
	unsigned long long start, end;
	FILE *maps;
	int memory;

	*image = (struct image){.layout = layout, .tgid = 4242, .own_stack = true};
	memory__start(&image->memory);
	take_registers(capture, image);
	snprintf(path, sizeof(path), "/proc/%d/mem", capture->pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", capture->pid);
	maps = fopen(path, "re");
	assert_return_code(memory, 0);
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %4s", &start, &end, access) == 3 && access[1] == 'w')
			take_mapping(memory, image, start, end);
	fclose(maps);
	close(memory);
	assert_int_not_equal(image->stack_high, 0);
}
