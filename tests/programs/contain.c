/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * contain [-r] [-c MASK] ROOT COMMAND [ARGUMENT]...: runs the command like a container runtime that
 * shares the host's processes: ROOT is its whole file system but for /proc and /sys, which are
 * mounted if ROOT has such folders. With -r the root is read-only, except for ROOT/profiles if that
 * exists; with -c the command is root with only the capabilities of MASK (hexadecimal),
 * permanently.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void require(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "contain: cannot %s: %s\n", what, strerror(errno));
	exit(126);
}

static void mount_root(const char *root, int is_read_only)
{
	require(unshare(CLONE_NEWNS), "leave the mount namespace");
	require(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "make mounts private");
	require(mount(root, root, NULL, MS_BIND, NULL), "bind the root");
	require(chdir(root), "enter the root");
	if (is_read_only && !access("profiles", F_OK))
		require(mount("profiles", "profiles", NULL, MS_BIND, NULL), "bind /profiles");
	if (!access("proc", F_OK))
		require(mount("proc", "proc", "proc", 0, NULL), "mount /proc");
	if (!access("sys", F_OK)) {
		require(mount("/sys", "sys", NULL, MS_BIND | MS_REC, NULL), "bind /sys");
		require(mount(NULL, "sys", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL),
			"make /sys read-only");
	}
	if (is_read_only)
		require(mount(NULL, ".", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL),
			"make the root read-only");
	require((int)syscall(SYS_pivot_root, ".", "."), "change the root");
	require(umount2(".", MNT_DETACH), "let go of the old root");
	require(chdir("/"), "enter the new root");
}

static void keep_capabilities(uint64_t mask)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct words[2];

	for (int i = 0; i < 64; i++)
		if (!(mask >> i & 1) && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			require(prctl(PR_CAPBSET_DROP, i, 0, 0, 0), "drop a capability");
	for (int i = 0; i < 2; i++) {
		uint32_t word = (uint32_t)(mask >> 32 * i);

		words[i] = (struct __user_cap_data_struct){word, word, 0};
	}
	require((int)syscall(SYS_capset, &header, words), "set capabilities");
	require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "refuse new privileges");
}

int main(int argc, char **argv)
{
	const char *capabilities = NULL;
	int is_read_only = 0, option;

	while ((option = getopt(argc, argv, "+rc:")) != -1) {
		is_read_only |= option == 'r';
		if (option == 'c')
			capabilities = optarg;
	}
	if (argc - optind < 2)
		return 125;
	mount_root(argv[optind], is_read_only);
	if (capabilities)
		keep_capabilities(strtoull(capabilities, NULL, 16));
	execv(argv[optind + 1], argv + optind + 1);
	fprintf(stderr, "contain: cannot run '%s': %s\n", argv[optind + 1], strerror(errno));
	return 127;
}
