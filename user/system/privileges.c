/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/privileges.h"

#include <errno.h>
#include <stdbool.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "system/invoker.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* linux/capability.h, 5.8 */
#define CAP_BPF     39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40 /* 5.9 */
#endif

#define BIT(capability) (UINT64_C(1) << (capability))

const struct privilege privileges[PRIVILEGE_COUNT] = {
	{"CAP_BPF", CAP_BPF, "loads the BPF programs", 1},
	{"CAP_PERFMON", CAP_PERFMON, "starts timers, reads the target's memory in BPF", 1},
	{"CAP_SYS_PTRACE", CAP_SYS_PTRACE, "inspects processes of other users", 0},
	{"CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, "reads the program files of other users", 0},
	{"CAP_CHECKPOINT_RESTORE", CAP_CHECKPOINT_RESTORE,
	 "reads program files that were removed or replaced, as by an upgrade", 0},
};

/*
 * Kept while sampling: for the target's memory and files, and for output files in other users'
 * folders, which luaspy writes for the user who called sudo.
 */
#define KEPT                                                                                       \
	(BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_DAC_OVERRIDE) |                  \
	 BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_CHOWN) | BIT(CAP_FOWNER) | BIT(CAP_KILL))

/* Version 3 of the header passes each set as two words of 32 capabilities. */
struct sets {
	uint64_t effective, permitted, inheritable;
};

static int get_sets(struct sets *sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct words[2];

	if (syscall(SYS_capget, &header, words))
		return -errno;
	sets->effective = words[0].effective | (uint64_t)words[1].effective << 32;
	sets->permitted = words[0].permitted | (uint64_t)words[1].permitted << 32;
	sets->inheritable = words[0].inheritable | (uint64_t)words[1].inheritable << 32;
	return 0;
}

static int set_sets(const struct sets *sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct words[2] = {
		{sets->effective, sets->permitted, sets->inheritable},
		{sets->effective >> 32, sets->permitted >> 32, sets->inheritable >> 32},
	};

	return syscall(SYS_capset, &header, words) ? -errno : 0;
}

int privileges__effective(uint64_t *capabilities)
{
	struct sets sets;
	int error = get_sets(&sets);

	*capabilities = error ? 0 : sets.effective;
	return error;
}

bool privileges__has(uint64_t capabilities, size_t index)
{
	unsigned int capability = privileges[index].capability;
	uint64_t enough = BIT(capability);

	if (capability != CAP_SYS_PTRACE && capability != CAP_DAC_READ_SEARCH)
		enough |= BIT(CAP_SYS_ADMIN);
	if (capability == CAP_DAC_READ_SEARCH)
		enough |= BIT(CAP_DAC_OVERRIDE);
	return (capabilities & enough) != 0;
}

#define FIRST_USER_NAMESPACE 0xEFFFFFFDU /* PROC_USER_INIT_INO, linux/proc_ns.h */

bool privileges__are_namespaced(void)
{
	struct stat status;

	return !stat("/proc/self/ns/user", &status) && status.st_ino != FIRST_USER_NAMESPACE;
}

char *privileges__missing(char *to, size_t size)
{
	uint64_t effective;
	size_t length = 0, missing = 0, named = 0;

	*to = '\0';
	if (privileges__effective(&effective))
		return to;
	for (size_t i = 0; i < PRIVILEGE_COUNT; i++)
		missing += !privileges__has(effective, i);
	for (size_t i = 0; i < PRIVILEGE_COUNT && length < size; i++) {
		const char *before = !named ? "" : named + 1 == missing ? " and " : ", ";

		if (privileges__has(effective, i))
			continue;
		length += snprintf(to + length, size - length, "%s%s", before, privileges[i].name);
		named++;
	}
	return to;
}

static bool is_missing(const char *capability)
{
	uint64_t effective;

	if (privileges__effective(&effective))
		return false;
	for (size_t i = 0; i < PRIVILEGE_COUNT; i++)
		if (!strcmp(privileges[i].name, capability))
			return !privileges__has(effective, i);
	return false;
}

char *privileges__remedy(const char *capability, char *to)
{
	const char *text = "try sudo or %s";

	if (!geteuid())
		text = is_missing(capability)
			       ? "root lacks %s here, as in most containers"
			       : "luaspy has %s: the kernel or a security module protects it";
	snprintf(to, PRIVILEGES_REMEDY_SIZE, text, capability);
	return to;
}

/* Before Linux 5.19 with unprivileged BPF disabled, even maps already open need a privilege. */
static int maps_need_privilege(void)
{
	struct utsname host;
	unsigned int major, minor;

	return uname(&host) || sscanf(host.release, "%u.%u", &major, &minor) != 2 || major < 5 ||
	       (major == 5 && minor < 19);
}

/* For switching to the rights of the user who called sudo to open files, and back. */
#define BECOMES (BIT(CAP_SETUID) | BIT(CAP_SETGID))

int privileges__reduce(void)
{
	uint64_t kept = KEPT | (maps_need_privilege() ? BIT(CAP_BPF) | BIT(CAP_SYS_ADMIN) : 0);
	struct invoker invoker;
	struct sets sets;
	int error = get_sets(&sets);

	if (error)
		return error;
	if (invoker__find(&invoker))
		kept |= BECOMES;
	sets.effective &= kept;
	sets.permitted &= kept;
	sets.inheritable = 0;
	return set_sets(&sets);
}

/* What the kernel requires for reading other processes' memory and files. */
#define READING (BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE))

/* User and group id of nobody, by convention since 32-bit ids: the kernel's overflow id. */
#define NOBODY 65534

/*
 * As root, the process could still write the files that root owns. It stays root if only that lets
 * it read: without CAP_SYS_PTRACE, the kernel compares user ids and capabilities.
 */
static void become_nobody(const struct sets *sets)
{
	if (geteuid() || (sets->effective & READING) != READING)
		return;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return;
	/* Direct system calls: C library wrappers signal all threads, but a fork has only one. */
	if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) ||
	    syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY))
		return;
}

int privileges__keep_reading(void)
{
	struct sets sets;
	int error = get_sets(&sets);

	if (error)
		return error;
	if (sets.effective & BIT(CAP_SYS_PTRACE)) {
		become_nobody(&sets);
		sets.permitted &= READING;
	} else {
		/* CAP_PERFMON stays: Linux 6.16 shows mappings to processes that have it. */
		sets.permitted &= ~(BIT(CAP_BPF) | BIT(CAP_SYS_ADMIN));
	}
	sets.effective &= sets.permitted;
	sets.inheritable = 0;
	return set_sets(&sets);
}

#define LOADING (BIT(CAP_BPF) | BIT(CAP_PERFMON))

int privileges__keep_loading(void)
{
	struct sets sets;
	int error = get_sets(&sets);

	if (error)
		return error;
	sets.permitted &= (sets.effective & LOADING) == LOADING ? LOADING : BIT(CAP_SYS_ADMIN);
	sets.effective &= sets.permitted;
	sets.inheritable = 0;
	return set_sets(&sets);
}

/* The capabilities that the kernel drops with root's file system user id (CAP_FS_MASK). */
#define OVER_FILES                                                                                 \
	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER) |     \
	 BIT(CAP_FSETID) | BIT(CAP_LINUX_IMMUTABLE) | BIT(CAP_MKNOD) | BIT(CAP_MAC_OVERRIDE))

int privileges__set_aside_files(uint64_t *aside)
{
	struct sets sets;
	int error = get_sets(&sets);

	*aside = error ? 0 : sets.effective & OVER_FILES;
	if (!*aside)
		return error;
	sets.effective &= ~OVER_FILES;
	return set_sets(&sets);
}

void privileges__give_back(uint64_t aside)
{
	struct sets sets;

	if (!aside || get_sets(&sets))
		return;
	sets.effective |= aside & sets.permitted;
	set_sets(&sets);
}
