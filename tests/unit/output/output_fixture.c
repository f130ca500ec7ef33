/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "output_fixture.h"

int output_fixture__make(void **state)
{
	struct output_fixture *fixture = calloc(1, sizeof(*fixture));

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

void point_stdout_back(struct output_fixture *fixture)
{
	if (fixture->stdout_fd < 0)
		return;
	__fpurge(stdout);
	clearerr(stdout);
	dup2(fixture->stdout_fd, STDOUT_FILENO);
	close(fixture->stdout_fd);
	fixture->stdout_fd = -1;
}

int output_fixture__free(void **state)
{
	struct output_fixture *fixture = *state;
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

int output_fixture__count(const struct output_fixture *fixture)
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

void put_file(const char *path, const char *content)
{
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	fputs(content, stream);
	assert_int_equal(fclose(stream), 0);
}

void assert_content(const char *path, const char *expected)
{
	char content[64] = "";
	FILE *stream = fopen(path, "r");

	assert_non_null(stream);
	content[fread(content, 1, sizeof(content) - 1, stream)] = '\0';
	fclose(stream);
	assert_string_equal(content, expected);
}

mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode;
}

int try_output(const char *path)
{
	struct output_file *file = (struct output_file *)-1;
	int error = output_file__open(path, 0, &file);

	if (error)
		assert_null(file);
	else
		output_file__discard(file);
	return error;
}

struct output_file *open_output(const char *path)
{
	struct output_file *file;

	assert_int_equal(output_file__open(path, 0, &file), 0);
	assert_non_null(output_file__stream(file));
	return file;
}

int write_output(const char *path, const char *content)
{
	struct output_file *file = open_output(path);

	fputs(content, output_file__stream(file));
	return output_file__commit(file);
}
