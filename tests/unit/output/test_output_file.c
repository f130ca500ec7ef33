/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "output_fixture.h"
#include "skip.h"

static void appears_at_commit_and_not_before(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file = open_output(fixture->path);

	fputs("new", output_file__stream(file));
	assert_int_equal(access(fixture->path, F_OK), -1);
	assert_int_equal(output_file__commit(file), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0640);
	assert_int_equal(output_fixture__count(fixture), 1);
}

static void replaces_an_existing_file_whole(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file;

	put_file(fixture->path, "old and longer");
	file = open_output(fixture->path);
	fputs("new", output_file__stream(file));
	fflush(output_file__stream(file));
	assert_content(fixture->path, "old and longer");
	assert_int_equal(output_file__commit(file), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(output_fixture__count(fixture), 1);
}

static void discard_leaves_nothing_but_the_old_file(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file;

	put_file(fixture->path, "old");
	file = open_output(fixture->path);
	fputs("new", output_file__stream(file));
	output_file__discard(file);
	assert_content(fixture->path, "old");
	assert_int_equal(output_fixture__count(fixture), 1);
	output_file__discard(NULL);
}

static void obeys_the_umask_and_is_never_writable_by_others(void **state)
{
	struct output_fixture *fixture = *state;

	umask(077);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0600);
	assert_int_equal(unlink(fixture->path), 0);
	umask(0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0640);
}

static void a_new_file_has_the_mode_of_that_which_it_replaces(void **state)
{
	struct output_fixture *fixture = *state;

	put_file(fixture->path, "old");
	assert_int_equal(chmod(fixture->path, 0600), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0600);
	umask(077);
	assert_int_equal(chmod(fixture->path, 0644), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0644);
	assert_int_equal(chmod(fixture->path, 04777), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0664);
}

static void has_the_mode_that_was_asked_for(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file, *again;

	umask(077);
	assert_int_equal(output_file__open(fixture->path, 0644, &file), 0);
	assert_int_equal(output_file__again(file, &again), 0);
	assert_int_equal(output_file__commit(again), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0644);
	assert_int_equal(chmod(fixture->path, 0600), 0);
	assert_int_equal(output_file__commit(file), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0644);
}

static void replaces_a_symbolic_link_and_not_what_it_points_to(void **state)
{
	struct output_fixture *fixture = *state;
	char other[128];

	snprintf(other, sizeof(other), "%s/other", fixture->folder);
	put_file(other, "old");
	assert_int_equal(symlink(other, fixture->path), 0);
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_content(other, "old");
	assert_content(fixture->path, "new");
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0640);
}

static void refuses_folders(void **state)
{
	struct output_fixture *fixture = *state;
	char path[128];

	assert_int_equal(try_output(fixture->folder), -EISDIR);
	snprintf(path, sizeof(path), "%s/", fixture->path);
	assert_int_equal(try_output(path), -EISDIR);
	assert_int_equal(symlink(fixture->folder, fixture->path), 0);
	assert_int_equal(try_output(fixture->path), -EISDIR);
	assert_int_equal(output_fixture__count(fixture), 1);
}

static void refuses_what_is_no_regular_file(void **state)
{
	struct output_fixture *fixture = *state;

	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	assert_int_equal(try_output(fixture->path), -EINVAL);
	assert_int_equal(mode_of(fixture->path), S_IFIFO | 0600);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(symlink("/dev/null", fixture->path), 0);
	assert_int_equal(try_output(fixture->path), -EINVAL);
}

static void says_at_once_that_a_path_is_wrong(void **state)
{
	struct output_fixture *fixture = *state;
	char path[400];

	assert_int_equal(try_output(""), -ENOENT);
	snprintf(path, sizeof(path), "%s/missing/out.json", fixture->folder);
	assert_int_equal(try_output(path), -ENOENT);
	put_file(fixture->path, "old");
	snprintf(path, sizeof(path), "%s/out.json", fixture->path);
	assert_int_equal(try_output(path), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/%0300d", fixture->folder, 1);
	assert_int_equal(try_output(path), -ENAMETOOLONG);
	assert_int_equal(output_fixture__count(fixture), 1);
}

static void takes_the_longest_name_that_a_folder_does(void **state)
{
	struct output_fixture *fixture = *state;
	char path[400];

	snprintf(path, sizeof(path), "%s/%0255d", fixture->folder, 1);
	assert_int_equal(write_output(path, "new"), 0);
	assert_content(path, "new");
}

static void stays_in_its_folder_when_the_process_moves(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file;
	char before[400];

	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(fixture->folder), 0);
	file = open_output("out.json");
	assert_int_equal(chdir("/"), 0);
	fputs("new", output_file__stream(file));
	assert_int_equal(output_file__commit(file), 0);
	assert_int_equal(chdir(before), 0);
	assert_content(fixture->path, "new");
}

static void a_full_disk_is_reported_and_keeps_the_old_file(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file;

	if (mount("none", fixture->folder, "tmpfs", 0, "size=64k"))
		skip_because("cannot mount a small tmpfs");
	put_file(fixture->path, "old");
	/* Less than a stream's buffer above the limit, and far above it. */
	for (int size = 64 << 10; size <= 1 << 20; size <<= 4) {
		file = open_output(fixture->path);
		for (int i = 0; i < size; i++)
			putc('x', output_file__stream(file));
		assert_int_equal(output_file__commit(file), -ENOSPC);
		assert_content(fixture->path, "old");
		assert_int_equal(output_fixture__count(fixture), 1);
	}
}

static void a_failed_rename_is_reported_and_leaves_nothing(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file = open_output(fixture->path);

	assert_int_equal(mkdir(fixture->path, 0700), 0);
	assert_int_equal(output_file__commit(file), -EISDIR);
	assert_int_equal(output_fixture__count(fixture), 1);
}

/* The test has device nodes of its own, so that a bug cannot replace the machine's /dev/null. */
static bool make_device(const struct output_fixture *fixture, unsigned int minor)
{
	int fd;

	unlink(fixture->path);
	if (mknod(fixture->path, S_IFCHR | 0666, makedev(1, minor)))
		return false;
	fd = open(fixture->path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void writes_devices_that_are_harmless_and_no_others(void **state)
{
	struct output_fixture *fixture = *state;

	if (!make_device(fixture, 3))
		skip_because("cannot make a device of my own");
	assert_int_equal(write_output(fixture->path, "new"), 0);
	assert_true(S_ISCHR(mode_of(fixture->path)));
	assert_true(make_device(fixture, 7));
	assert_int_equal(write_output(fixture->path, "new"), -ENOSPC);
	assert_true(S_ISCHR(mode_of(fixture->path)));
	assert_true(make_device(fixture, 5));
	assert_int_equal(try_output(fixture->path), -EINVAL);
	assert_int_equal(output_fixture__count(fixture), 1);
}

/* Until the fixture goes, or point_stdout_back(). */
static void point_stdout_to(struct output_fixture *fixture, const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	assert_int_not_equal(fd, -1);
	fflush(stdout);
	fixture->stdout_fd = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

static void a_dash_is_standard_output(void **state)
{
	struct output_fixture *fixture = *state;
	int error;

	point_stdout_to(fixture, fixture->path, O_WRONLY | O_CREAT);
	error = write_output("-", "one");
	point_stdout_back(fixture);
	assert_int_equal(error, 0);
	assert_content(fixture->path, "one");
	point_stdout_to(fixture, "/dev/full", O_WRONLY);
	error = write_output("-", "one");
	point_stdout_back(fixture);
	assert_int_equal(error, -ENOSPC);
}

static void standard_output_that_cannot_be_written_is_reported_at_once(void **state)
{
	struct output_fixture *fixture = *state;
	int dash, name;

	point_stdout_to(fixture, "/dev/null", O_RDONLY);
	dash = try_output("-");
	name = try_output("/dev/stdout");
	point_stdout_back(fixture);
	assert_int_equal(dash, -EBADF);
	assert_int_equal(name, -EBADF);
}

/* If the shell opened the file for appending, its content stays. */
static void writes_open_descriptors_where_they_are(void **state)
{
	struct output_fixture *fixture = *state;
	int fd = open(fixture->path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	char path[32];
	int pipes[2];
	char byte;

	assert_int_equal(write(fd, "old ", 4), 4);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(write_output(path, "new"), 0);
	assert_int_equal(write(fd, "!", 1), 1);
	close(fd);
	assert_content(fixture->path, "old new!");
	assert_int_equal(try_output(path), -EBADF);

	assert_int_equal(pipe(pipes), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipes[1]);
	assert_int_equal(write_output(path, "x"), 0);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(pipes[0]);
	close(pipes[1]);
}

/* The caller cannot make luaspy write to one of luaspy's own files. */
static void writes_no_descriptor_that_was_not_handed_to_it(void **state)
{
	struct output_fixture *fixture = *state;
	int fd = open(fixture->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char path[32];

	assert_return_code(fd, errno);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(try_output(path), -EBADF);
	assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
	assert_int_equal(try_output(path), 0);
	close(fd);
}

static void two_at_once_do_not_meet(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *one = open_output(fixture->path);
	struct output_file *two = open_output(fixture->path);

	fputs("one", output_file__stream(one));
	fputs("two", output_file__stream(two));
	assert_int_equal(output_file__commit(two), 0);
	assert_content(fixture->path, "two");
	assert_int_equal(output_file__commit(one), 0);
	assert_content(fixture->path, "one");
	assert_int_equal(output_fixture__count(fixture), 1);
}

static void another_one_is_there_before_the_first(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file, *again;
	char path[400];

	snprintf(path, sizeof(path), "%s/out", fixture->folder);
	put_file(path, "old");
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(output_file__open(path, 0, &file), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(output_file__again(file, &again), 0);
		fputs("early", output_file__stream(again));
		assert_int_equal(output_file__commit(again), 0);
		assert_content(path, "early");
		assert_int_equal(mode_of(path) & ALLPERMS, 0600);
	}
	fputs("late", output_file__stream(file));
	assert_int_equal(output_file__commit(file), 0);
	assert_content(path, "late");
	assert_int_equal(output_fixture__count(fixture), 1);
}

static void there_is_no_other_one_of_what_is_written_directly(void **state)
{
	struct output_file *file, *again = (struct output_file *)-1;

	(void)state;
	assert_int_equal(output_file__open("/dev/null", 0, &file), 0);
	assert_int_equal(output_file__again(file, &again), -ENOTSUP);
	assert_null(again);
	output_file__discard(file);
}

/* What a killed process leaves behind. */
static void has_no_name_until_it_is_whole(void **state)
{
	struct output_fixture *fixture = *state;
	struct output_file *file = open_output(fixture->path);

	fputs("new", output_file__stream(file));
	fflush(output_file__stream(file));
	assert_int_equal(output_fixture__count(fixture), 0);
	assert_int_equal(output_file__commit(file), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(output_fixture__count(fixture), 1);
}

/* 0; 2: the file had no name, 3: it was not written, 4: mounting is forbidden. */
static int write_without_proc(const struct output_fixture *fixture)
{
	struct output_file *file;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL))
		return 4;
	if (output_file__open(fixture->path, 0, &file))
		return 3;
	fputs("new", output_file__stream(file));
	if (output_fixture__count(fixture) != 1)
		return 2;
	return output_file__commit(file) ? 3 : 0;
}

static void has_a_name_where_it_could_not_get_one_later(void **state)
{
	struct output_fixture *fixture = *state;
	int status;
	pid_t pid;

	need_root();
	pid = fork();
	assert_return_code(pid, errno);
	if (!pid)
		_exit(write_without_proc(fixture));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 4)
		skip_because("mounts are forbidden");
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(output_fixture__count(fixture), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_output(appears_at_commit_and_not_before),
		with_output(has_no_name_until_it_is_whole),
		with_output(has_a_name_where_it_could_not_get_one_later),
		with_output(replaces_an_existing_file_whole),
		with_output(discard_leaves_nothing_but_the_old_file),
		with_output(obeys_the_umask_and_is_never_writable_by_others),
		with_output(a_new_file_has_the_mode_of_that_which_it_replaces),
		with_output(has_the_mode_that_was_asked_for),
		with_output(replaces_a_symbolic_link_and_not_what_it_points_to),
		with_output(refuses_folders),
		with_output(refuses_what_is_no_regular_file),
		with_output(says_at_once_that_a_path_is_wrong),
		with_output(takes_the_longest_name_that_a_folder_does),
		with_output(stays_in_its_folder_when_the_process_moves),
		with_output(a_full_disk_is_reported_and_keeps_the_old_file),
		with_output(a_failed_rename_is_reported_and_leaves_nothing),
		with_output(writes_devices_that_are_harmless_and_no_others),
		with_output(a_dash_is_standard_output),
		with_output(standard_output_that_cannot_be_written_is_reported_at_once),
		with_output(writes_open_descriptors_where_they_are),
		with_output(writes_no_descriptor_that_was_not_handed_to_it),
		with_output(two_at_once_do_not_meet),
		with_output(another_one_is_there_before_the_first),
		with_output(there_is_no_other_one_of_what_is_written_directly),
	};

	return cmocka_run_group_tests_name("output_file", tests, NULL, NULL);
}
