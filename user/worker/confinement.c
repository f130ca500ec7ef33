/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "process/procmap_query.h"
#include "system/privileges.h"

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#error "no seccomp architecture for this machine"
#endif

/* What C libraries need to read files, list folders, allocate memory and tell the time, and: */
static const int allowed[] = {
	SYS_read,
	SYS_pread64,
	SYS_readv,
	SYS_process_vm_readv,
	SYS_write,
	SYS_writev,
	SYS_openat,
	SYS_openat2,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_lseek,
	SYS_fcntl,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_getrandom,
	SYS_getpid,
	SYS_setitimer,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_restart_syscall,
	SYS_rt_sigreturn,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_open
	SYS_open, /* musl */
	SYS_stat,
	SYS_lstat,
	SYS_readlink,
	SYS_access,
#endif
	SYS_faccessat,
	SYS_gettid,
	SYS_rt_sigprocmask,
	SYS_capget, /* rights over files are set aside for a while */
	SYS_capset,
};

#define ALLOWED_COUNT (sizeof(allowed) / sizeof(allowed[0]))

/* Flags of open(2) that ask for more than reading. */
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)

/* The lower half of a system call's argument, on a little-endian machine. */
#define ARGUMENT(index) ((uint32_t)offsetof(struct seccomp_data, args[index]))

/* Allows the system call `number`, whose argument `flags` is that of open(2), for reading only. */
#define OPENS(number, flags)                                                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4),                                       \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(flags)),                               \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING, 0, 1),                               \
		BPF_STMT(BPF_RET | BPF_K, REFUSED), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Allows ioctl(2) for this request only. */
#define ASKS(request)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),                                      \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(1)),                                   \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(request), 1, 0),                    \
		BPF_STMT(BPF_RET | BPF_K, REFUSED), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* System calls of the x32 ABI have other numbers, so they are refused. */
static const struct sock_filter head[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	OPENS(SYS_openat, 2),
	ASKS(LS_PROCMAP_QUERY),
#ifdef SYS_open
	OPENS(SYS_open, 1), /* musl */
#endif
};

#define HEAD (sizeof(head) / sizeof(head[0]))
#define TAIL 2

static void build_filter(struct sock_filter *filter)
{
	memcpy(filter, head, sizeof(head));
	for (size_t i = 0; i < ALLOWED_COUNT; i++)
		filter[HEAD + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								(uint32_t)allowed[i],
								(uint8_t)(ALLOWED_COUNT - i), 0);
	filter[HEAD + ALLOWED_COUNT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, REFUSED);
	filter[HEAD + ALLOWED_COUNT + 1] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

static int filter_system_calls(void)
{
	struct sock_filter filter[HEAD + ALLOWED_COUNT + TAIL];
	struct sock_fprog program = {.len = HEAD + ALLOWED_COUNT + TAIL, .filter = filter};

	build_filter(filter);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

static int limit(int resource, rlim_t most)
{
	struct rlimit limits;

	if (getrlimit((__rlimit_resource_t)resource, &limits))
		return -errno;
	if (limits.rlim_max > most)
		limits.rlim_max = most;
	if (limits.rlim_cur > most)
		limits.rlim_cur = most;
	return setrlimit((__rlimit_resource_t)resource, &limits) ? -errno : 0;
}

#if defined(__SANITIZE_ADDRESS__)
/* AddressSanitizer reserves terabytes as it goes. */
static int limit_memory(uint64_t memory)
{
	(void)memory;
	return 0;
}
#else
/* Bytes of address space in use; 0: not known. */
static uint64_t mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int limit_memory(uint64_t memory)
{
	uint64_t mapped = mapped_bytes();

	return mapped ? limit(RLIMIT_AS, (rlim_t)(mapped + memory)) : -ENODATA;
}
#endif

int confinement__begin(uint64_t memory)
{
	int errors[] = {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0,
		privileges__keep_reading(),
		limit(RLIMIT_CORE, 0),
		limit(RLIMIT_FSIZE, 0),
		limit_memory(memory),
		filter_system_calls(),
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i])
			return errors[i];
	return 0;
}

void confinement__limit_cpu(uint64_t ns)
{
	const struct itimerval timer = {
		.it_value = {.tv_sec = (time_t)(ns / 1000000000),
			     .tv_usec = (suseconds_t)(ns / 1000 % 1000000)}};

	setitimer(ITIMER_PROF, &timer, NULL);
}
