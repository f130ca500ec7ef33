/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "output_file.h"
#include "skip.h"

struct fixture {
	char folder[64];
	char path[96];
	int stdout_fd;
	mode_t mask;
};

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	strcpy(fixture->folder, "/tmp/test_output_file.XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/out.json", fixture->folder);
	fixture->stdout_fd = -1;
	fixture->mask = umask(022);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static void point_stdout_back(struct fixture *fixture)
{
	if (fixture->stdout_fd < 0)
		return;
	__fpurge(stdout);
	clearerr(stdout);
	dup2(fixture->stdout_fd, STDOUT_FILENO);
	close(fixture->stdout_fd);
	fixture->stdout_fd = -1;
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;
	char path[400];
	struct dirent *entry;
	DIR *folder;

	point_stdout_back(fixture);
	umask(fixture->mask);
	umount2(fixture->folder, MNT_DETACH);
	folder = opendir(fixture->folder);
	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", fixture->folder, entry->d_name);
		if (unlink(path))
			rmdir(path);
	}
	if (folder)
		closedir(folder);
	rmdir(fixture->folder);
	free(fixture);
	return 0;
}

static int count_files(const struct fixture *fixture)
{
	DIR *folder = opendir(fixture->folder);
	struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(folder);
	return count;
}

static void put_file(const char *path, const char *content)
{
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	fputs(content, stream);
	assert_int_equal(fclose(stream), 0);
}

static void assert_content(const char *path, const char *expected)
{
	char content[64] = "";
	FILE *stream = fopen(path, "r");

	assert_non_null(stream);
	content[fread(content, 1, sizeof(content) - 1, stream)] = '\0';
	fclose(stream);
	assert_string_equal(content, expected);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode;
}

static int try_open(const char *path)
{
	struct output_file *file = (struct output_file *)-1;
	int err = output_file__open(path, &file);

	if (err)
		assert_null(file);
	else
		output_file__discard(file);
	return err;
}

static struct output_file *open_file(const char *path)
{
	struct output_file *file;

	assert_int_equal(output_file__open(path, &file), 0);
	assert_non_null(output_file__stream(file));
	return file;
}

static int write_file(const char *path, const char *content)
{
	struct output_file *file = open_file(path);

	fputs(content, output_file__stream(file));
	return output_file__commit(file);
}

static void appears_at_commit_and_not_before(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file = open_file(fixture->path);

	fputs("new", output_file__stream(file));
	assert_int_equal(access(fixture->path, F_OK), -1);
	assert_int_equal(output_file__commit(file), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0644);
	assert_int_equal(count_files(fixture), 1);
}

static void replaces_an_existing_file_whole(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file;

	put_file(fixture->path, "old and longer");
	file = open_file(fixture->path);
	fputs("new", output_file__stream(file));
	fflush(output_file__stream(file));
	assert_content(fixture->path, "old and longer");
	assert_int_equal(output_file__commit(file), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(count_files(fixture), 1);
}

static void discard_leaves_nothing_but_the_old_file(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file;

	put_file(fixture->path, "old");
	file = open_file(fixture->path);
	fputs("new", output_file__stream(file));
	output_file__discard(file);
	assert_content(fixture->path, "old");
	assert_int_equal(count_files(fixture), 1);
	output_file__discard(NULL);
}

static void obeys_the_umask_and_is_never_writable_by_others(void **state)
{
	struct fixture *fixture = *state;

	umask(077);
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0600);
	assert_int_equal(unlink(fixture->path), 0);
	umask(0);
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0644);
}

static void keeps_a_private_file_private(void **state)
{
	struct fixture *fixture = *state;

	put_file(fixture->path, "old");
	assert_int_equal(chmod(fixture->path, 0600), 0);
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0600);
	assert_int_equal(chmod(fixture->path, 0666), 0);
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0644);
}

static void replaces_a_symbolic_link_and_not_what_it_points_to(void **state)
{
	struct fixture *fixture = *state;
	char other[128];

	snprintf(other, sizeof(other), "%s/other", fixture->folder);
	put_file(other, "old");
	assert_int_equal(symlink(other, fixture->path), 0);
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_content(other, "old");
	assert_content(fixture->path, "new");
	assert_int_equal(mode_of(fixture->path), S_IFREG | 0644);
}

static void refuses_folders(void **state)
{
	struct fixture *fixture = *state;
	char path[128];

	assert_int_equal(try_open(fixture->folder), -EISDIR);
	snprintf(path, sizeof(path), "%s/", fixture->path);
	assert_int_equal(try_open(path), -EISDIR);
	assert_int_equal(symlink(fixture->folder, fixture->path), 0);
	assert_int_equal(try_open(fixture->path), -EISDIR);
	assert_int_equal(count_files(fixture), 1);
}

static void refuses_what_is_no_regular_file(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	assert_int_equal(try_open(fixture->path), -EINVAL);
	assert_int_equal(mode_of(fixture->path), S_IFIFO | 0600);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(symlink("/dev/null", fixture->path), 0);
	assert_int_equal(try_open(fixture->path), -EINVAL);
}

static void says_at_once_that_a_path_is_wrong(void **state)
{
	struct fixture *fixture = *state;
	char path[400];

	assert_int_equal(try_open(""), -ENOENT);
	snprintf(path, sizeof(path), "%s/missing/out.json", fixture->folder);
	assert_int_equal(try_open(path), -ENOENT);
	put_file(fixture->path, "old");
	snprintf(path, sizeof(path), "%s/out.json", fixture->path);
	assert_int_equal(try_open(path), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/%0300d", fixture->folder, 1);
	assert_int_equal(try_open(path), -ENAMETOOLONG);
	assert_int_equal(count_files(fixture), 1);
}

static void takes_the_longest_name_that_a_folder_does(void **state)
{
	struct fixture *fixture = *state;
	char path[400];

	snprintf(path, sizeof(path), "%s/%0255d", fixture->folder, 1);
	assert_int_equal(write_file(path, "new"), 0);
	assert_content(path, "new");
}

static void stays_in_its_folder_when_the_process_moves(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file;
	char before[400];

	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(fixture->folder), 0);
	file = open_file("out.json");
	assert_int_equal(chdir("/"), 0);
	fputs("new", output_file__stream(file));
	assert_int_equal(output_file__commit(file), 0);
	assert_int_equal(chdir(before), 0);
	assert_content(fixture->path, "new");
}

static void a_full_disk_is_reported_and_keeps_the_old_file(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file;

	if (mount("none", fixture->folder, "tmpfs", 0, "size=64k"))
		skip_because("cannot mount a small tmpfs");
	put_file(fixture->path, "old");
	/* Less than a stream's buffer above the limit, and far above it. */
	for (int size = 64 << 10; size <= 1 << 20; size <<= 4) {
		file = open_file(fixture->path);
		for (int i = 0; i < size; i++)
			putc('x', output_file__stream(file));
		assert_int_equal(output_file__commit(file), -ENOSPC);
		assert_content(fixture->path, "old");
		assert_int_equal(count_files(fixture), 1);
	}
}

static void a_failed_rename_is_reported_and_leaves_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file = open_file(fixture->path);

	assert_int_equal(mkdir(fixture->path, 0700), 0);
	assert_int_equal(output_file__commit(file), -EISDIR);
	assert_int_equal(count_files(fixture), 1);
}

/* Nodes of our own: a mistake that replaces them must not cost the machine its /dev/null. */
static bool make_device(const struct fixture *fixture, unsigned int minor)
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
	struct fixture *fixture = *state;

	if (!make_device(fixture, 3))
		skip_because("cannot make a device of my own");
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_true(S_ISCHR(mode_of(fixture->path)));
	assert_true(make_device(fixture, 7));
	assert_int_equal(write_file(fixture->path, "new"), -ENOSPC);
	assert_true(S_ISCHR(mode_of(fixture->path)));
	assert_true(make_device(fixture, 5));
	assert_int_equal(try_open(fixture->path), -EINVAL);
	assert_int_equal(count_files(fixture), 1);
}

/* Until the fixture goes, or point_stdout_back(). */
static void point_stdout_to(struct fixture *fixture, const char *path, int flags)
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
	struct fixture *fixture = *state;
	int err;

	point_stdout_to(fixture, fixture->path, O_WRONLY | O_CREAT);
	err = write_file("-", "one");
	point_stdout_back(fixture);
	assert_int_equal(err, 0);
	assert_content(fixture->path, "one");
	point_stdout_to(fixture, "/dev/full", O_WRONLY);
	err = write_file("-", "one");
	point_stdout_back(fixture);
	assert_int_equal(err, -ENOSPC);
}

static void standard_output_that_cannot_be_written_is_reported_at_once(void **state)
{
	struct fixture *fixture = *state;
	int dash, name;

	point_stdout_to(fixture, "/dev/null", O_RDONLY);
	dash = try_open("-");
	name = try_open("/dev/stdout");
	point_stdout_back(fixture);
	assert_int_equal(dash, -EBADF);
	assert_int_equal(name, -EBADF);
}

/* Where the shell opened the file to append, what is in it stays. */
static void writes_open_descriptors_where_they_are(void **state)
{
	struct fixture *fixture = *state;
	int fd = open(fixture->path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	char path[32];
	int pipes[2];
	char byte;

	assert_int_equal(write(fd, "old ", 4), 4);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(write_file(path, "new"), 0);
	assert_int_equal(write(fd, "!", 1), 1);
	close(fd);
	assert_content(fixture->path, "old new!");
	assert_int_equal(try_open(path), -EBADF);

	assert_int_equal(pipe(pipes), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipes[1]);
	assert_int_equal(write_file(path, "x"), 0);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(pipes[0]);
	close(pipes[1]);
}

static void belongs_to_the_caller_of_sudo(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;

	need_root();
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_int_equal(stat(fixture->path, &status), 0);
	assert_int_equal(status.st_uid, 12345);
	assert_int_equal(status.st_gid, 23456);
	setenv("SUDO_GID", "-1", 1);
	assert_int_equal(write_file(fixture->path, "new"), 0);
	assert_int_equal(stat(fixture->path, &status), 0);
	assert_int_equal(status.st_uid, 0);
}

static void two_at_once_do_not_meet(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *one = open_file(fixture->path);
	struct output_file *two = open_file(fixture->path);

	fputs("one", output_file__stream(one));
	fputs("two", output_file__stream(two));
	assert_int_equal(output_file__commit(two), 0);
	assert_content(fixture->path, "two");
	assert_int_equal(output_file__commit(one), 0);
	assert_content(fixture->path, "one");
	assert_int_equal(count_files(fixture), 1);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

static void another_one_is_there_before_the_first(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file, *again;
	char path[400];

	snprintf(path, sizeof(path), "%s/out", fixture->folder);
	put_file(path, "old");
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(output_file__open(path, &file), 0);
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
	assert_int_equal(count_files(fixture), 1);
}

static void there_is_no_other_one_of_what_is_written_directly(void **state)
{
	struct output_file *file, *again = (struct output_file *)-1;

	(void)state;
	assert_int_equal(output_file__open("/dev/null", &file), 0);
	assert_int_equal(output_file__again(file, &again), -ENOTSUP);
	assert_null(again);
	output_file__discard(file);
}

/* What a killed process leaves behind. */
static void has_no_name_until_it_is_whole(void **state)
{
	struct fixture *fixture = *state;
	struct output_file *file = open_file(fixture->path);

	fputs("new", output_file__stream(file));
	fflush(output_file__stream(file));
	assert_int_equal(count_files(fixture), 0);
	assert_int_equal(output_file__commit(file), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(count_files(fixture), 1);
}

/* 0; 2: the file had no name, 3: it was not written, 4: mounting is forbidden. */
static int write_without_proc(const struct fixture *fixture)
{
	struct output_file *file;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL))
		return 4;
	if (output_file__open(fixture->path, &file))
		return 3;
	fputs("new", output_file__stream(file));
	if (count_files(fixture) != 1)
		return 2;
	return output_file__commit(file) ? 3 : 0;
}

static void has_a_name_where_it_could_not_get_one_later(void **state)
{
	struct fixture *fixture = *state;
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
	assert_int_equal(count_files(fixture), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(appears_at_commit_and_not_before),
		test(has_no_name_until_it_is_whole),
		test(has_a_name_where_it_could_not_get_one_later),
		test(replaces_an_existing_file_whole),
		test(discard_leaves_nothing_but_the_old_file),
		test(obeys_the_umask_and_is_never_writable_by_others),
		test(keeps_a_private_file_private),
		test(replaces_a_symbolic_link_and_not_what_it_points_to),
		test(refuses_folders),
		test(refuses_what_is_no_regular_file),
		test(says_at_once_that_a_path_is_wrong),
		test(takes_the_longest_name_that_a_folder_does),
		test(stays_in_its_folder_when_the_process_moves),
		test(a_full_disk_is_reported_and_keeps_the_old_file),
		test(a_failed_rename_is_reported_and_leaves_nothing),
		test(writes_devices_that_are_harmless_and_no_others),
		test(a_dash_is_standard_output),
		test(standard_output_that_cannot_be_written_is_reported_at_once),
		test(writes_open_descriptors_where_they_are),
		test(belongs_to_the_caller_of_sudo),
		test(two_at_once_do_not_meet),
		test(another_one_is_there_before_the_first),
		test(there_is_no_other_one_of_what_is_written_directly),
	};

	return cmocka_run_group_tests_name("output_file", tests, NULL, NULL);
}
