/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who owns an output file, and what its path reveals: luaspy gives no rights of root away. */
#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/privileges.h"
#include "output_fixture.h"
#include "skip.h"

#define CALLER 12345

static void call_sudo(void)
{
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
}

static void assert_owner(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	assert_int_equal(status.st_uid, uid);
	assert_int_equal(status.st_gid, gid);
	assert_int_equal(status.st_mode & ALLPERMS, mode);
}

static void belongs_to_the_caller_of_sudo(void **state)
{
	struct output_fixture *fixture = *state;

	need_root();
	assert_int_equal(chown(fixture->folder, CALLER, 0), 0);
	call_sudo();
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, CALLER, 23456, 0640);
	/* And to them again. */
	assert_int_equal(chmod(fixture->path, 0604), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, CALLER, 23456, 0604);
	assert_int_equal(unlink(fixture->path), 0);
	setenv("SUDO_GID", "-1", 1);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, 0, 0, 0640);
}

/* A file that the caller of sudo could not have made is root's, as if they had used 'sudo cp'. */
static void gives_the_caller_of_sudo_nothing_that_they_could_not_make(void **state)
{
	struct output_fixture *fixture = *state;

	need_root();
	call_sudo();
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, 0, 0, 0640);
	assert_int_equal(chmod(fixture->path, 0600), 0);
	assert_int_equal(chown(fixture->path, 0, 4242), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, 0, 4242, 0600);
	/* Not even in a folder of their own. */
	assert_int_equal(chown(fixture->folder, CALLER, 0), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, 0, 4242, 0600);
	assert_content(fixture->path, "new");
	assert_int_equal(output_fixture__count(fixture), 1);
}

/* The file is made with the caller's groups, and not with root's. */
static void is_made_with_the_groups_of_the_caller_of_sudo(void **state)
{
	static const gid_t roots = 4711;
	struct output_fixture *fixture = *state;
	gid_t before[64];
	int count;

	need_root();
	count = getgroups(64, before);
	assert_true(count >= 0);
	assert_return_code(setgroups(1, &roots), errno);
	call_sudo();
	assert_int_equal(chmod(fixture->folder, 0770), 0);
	assert_int_equal(chown(fixture->folder, 0, roots), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, 0, 0, 0640);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(chown(fixture->folder, 0, 23456), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, CALLER, 23456, 0640);
	assert_int_equal(getgroups(0, NULL), 1);
	assert_return_code(setgroups((size_t)count, before), errno);
}

/* In a folder that everyone may write to, the profile does not go into a stranger's file. */
static void gives_a_stranger_nothing(void **state)
{
	struct output_fixture *fixture = *state;

	need_root();
	assert_int_equal(chmod(fixture->folder, 01777), 0);
	for (int is_called = 0; is_called < 2; is_called++) {
		put_file(fixture->path, "old");
		assert_int_equal(chmod(fixture->path, 0666), 0);
		assert_int_equal(chown(fixture->path, 4711, 4711), 0);
		assert_int_equal(write_output(fixture->path, "new"), 0);
		assert_owner(fixture->path, 0, 0, 0640);
		assert_int_equal(unlink(fixture->path), 0);
		call_sudo();
	}
}

/* If root names a file of another user, luaspy writes it, and it stays that user's. */
static void leaves_a_file_to_its_owner(void **state)
{
	struct output_fixture *fixture = *state;

	need_root();
	put_file(fixture->path, "old");
	assert_int_equal(chown(fixture->path, 4711, 4712), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_owner(fixture->path, 4711, 4712, 0644);
	assert_content(fixture->path, "new");
}

/*
 * 0, or the line that failed. All of it as an ordinary user with CAP_DAC_READ_SEARCH and the like.
 */
static int write_with_capabilities(const struct output_fixture *fixture)
{
	struct stat status;
	char path[128];

	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(CALLER, CALLER, CALLER))
		return __LINE__;
	privileges__give_back(UINT64_MAX);
	snprintf(path, sizeof(path), "%s/closed/none", fixture->folder);
	if (!lstat(path, &status) || errno != ENOENT)
		return __LINE__;
	/* As of what is there and what is not, and of a folder, a file and none. */
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = {"file", "folder", "folder/x", "none"};

		snprintf(path, sizeof(path), "%s/closed/%s", fixture->folder, names[i]);
		if (try_output(path) != -EACCES)
			return __LINE__;
	}
	/* It has them again. */
	return !lstat(path, &status) || errno != ENOENT ? __LINE__ : 0;
}

static void a_path_tells_no_more_than_its_user_could_see(void **state)
{
	struct output_fixture *fixture = *state;
	char path[128];
	int status;
	pid_t pid;

	need_root();
	assert_int_equal(chmod(fixture->folder, 0755), 0);
	snprintf(path, sizeof(path), "%s/closed", fixture->folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/closed/folder", fixture->folder);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/closed/file", fixture->folder);
	put_file(path, "old");
	pid = fork();
	assert_return_code(pid, errno);
	if (!pid)
		_exit(write_with_capabilities(fixture) % 256);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(path);
	snprintf(path, sizeof(path), "%s/closed/folder", fixture->folder);
	rmdir(path);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_output(belongs_to_the_caller_of_sudo),
		with_output(gives_the_caller_of_sudo_nothing_that_they_could_not_make),
		with_output(is_made_with_the_groups_of_the_caller_of_sudo),
		with_output(gives_a_stranger_nothing),
		with_output(leaves_a_file_to_its_owner),
		with_output(a_path_tells_no_more_than_its_user_could_see),
	};

	return cmocka_run_group_tests_name("owner of output files", tests, NULL, NULL);
}
