/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "folder.h"
#include "invoker.h"
#include "output_file.h"

#define TEMPORARY_LEN 32
#define ATTEMPTS      16

struct output_file {
	FILE *stream;
	/*
	 * The folder is held open, and both names are looked up in it: neither a change of the
	 * working directory nor of the path can lead the rename elsewhere.
	 */
	int folder;                    /* -1: written directly */
	char temporary[TEMPORARY_LEN]; /* "": there is none */
	bool is_nameless;              /* until it is whole: nothing stays of one that is not */
	char name[];
};

static int choose_temporary(struct output_file *file)
{
	uint64_t suffix;

	if (getrandom(&suffix, sizeof(suffix), 0) != sizeof(suffix))
		return -errno;
	snprintf(file->temporary, sizeof(file->temporary), ".luaspy-%016" PRIx64, suffix);
	return 0;
}

static int give_temporary_name(struct output_file *file, int fd)
{
	char path[64];
	int error = -EEXIST;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int i = 0; i < ATTEMPTS && error == -EEXIST; i++) {
		error = choose_temporary(file);
		if (!error &&
		    linkat(AT_FDCWD, path, file->folder, file->temporary, AT_SYMLINK_FOLLOW))
			error = -errno;
	}
	if (error)
		*file->temporary = '\0';
	return error;
}

/* The file behind `fd`, which has no name, gets its own, or where that is taken a temporary one. */
static int give_name(struct output_file *file, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!linkat(AT_FDCWD, path, file->folder, file->name, AT_SYMLINK_FOLLOW))
		return 0;
	return give_temporary_name(file, fd);
}

/* Closes what is not standard output; *fd stays open for a file that has no name yet. */
static int close_stream(struct output_file *file, int *fd)
{
	int error = 0;

	if (!file->stream || file->stream == stdout)
		return 0;
	if (file->is_nameless)
		*fd = fcntl(fileno(file->stream), F_DUPFD_CLOEXEC, 0);
	if (file->is_nameless && *fd < 0)
		error = -errno;
	return fclose(file->stream) && !error ? -errno : error;
}

/* Frees, and removes whatever was not renamed. Keeps nothing open but standard output. */
static int finish(struct output_file *file, int err)
{
	int fd = -1, close_error = close_stream(file, &fd);

	if (!err)
		err = close_error;
	if (!err && file->is_nameless)
		err = give_name(file, fd);
	if (fd >= 0)
		close(fd);
	if (!err && *file->temporary) {
		if (renameat(file->folder, file->temporary, file->folder, file->name))
			err = -errno;
		else
			*file->temporary = '\0';
	}
	if (*file->temporary)
		unlinkat(file->folder, file->temporary, 0);
	if (file->folder >= 0)
		close(file->folder);
	free(file);
	return err;
}

static int parse_id(const char *text, unsigned long limit, unsigned long *id)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*id = strtoul(text, &end, 10);
	return errno || *end || *id > limit ? -EINVAL : 0;
}

/* Found out now, not when there is something to write. */
static int check_descriptor(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	return (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

/*
 * Ours to write already, whatever is behind it: opening it again by name would start a file over
 * that the shell opened for appending, and cannot work for a socket. -EINVAL: no such name.
 */
static int parse_descriptor(const char *path)
{
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	unsigned long descriptor;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(path, names[i]))
			return (int)i;
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		size_t length = strlen(folders[i]);

		if (!strncmp(path, folders[i], length) &&
		    !parse_id(path + length, INT_MAX, &descriptor))
			return (int)descriptor;
	}
	return -EINVAL;
}

/* Devices that are meant to be written by anyone; to open another one may already do harm. */
static bool is_harmless(const struct stat *status)
{
	return S_ISCHR(status->st_mode) && (status->st_rdev == makedev(1, 3) /* null */ ||
					    status->st_rdev == makedev(1, 7) /* full */ ||
					    status->st_rdev == makedev(5, 0) /* tty */);
}

static int open_device(const char *path)
{
	struct stat status;
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || !is_harmless(&status)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/*
 * What is at `path` now. *mode is what a new file there may have: who made their file private does
 * not want the next one public.
 */
static int check_target(const char *path, bool *is_device, mode_t *mode)
{
	struct stat status, behind;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	*is_device = is_harmless(&status);
	/* Links to devices and sockets, as /dev has them, are not a user's to lose. */
	if (S_ISLNK(status.st_mode)) {
		if (stat(path, &behind) || S_ISREG(behind.st_mode))
			return 0;
		return S_ISDIR(behind.st_mode) ? -EISDIR : -EINVAL;
	}
	if (!S_ISREG(status.st_mode) && !*is_device)
		return -EINVAL;
	*mode &= status.st_mode | S_IRUSR | S_IWUSR;
	return 0;
}

/* Best effort: a file system without owners must not cost the recording. */
static void give_to_invoker(int fd)
{
	struct invoker invoker;

	if (invoker__find(&invoker) && fchown(fd, invoker.uid, invoker.gid))
		return;
}

/* For file systems that know no files without a name. */
static int open_with_name(struct output_file *file, mode_t mode)
{
	int fd = -1;

	for (int i = 0; i < ATTEMPTS; i++) {
		int error = choose_temporary(file);

		if (error)
			return error;
		fd = openat(file->folder, file->temporary,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0) {
		int err = -errno;

		*file->temporary = '\0';
		return err;
	}
	return fd;
}

/* Not every file system knows files without a name, nor does each that does give them one. */
static bool can_give_names(int folder)
{
	struct output_file probe = {.folder = folder};
	int fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
	bool can = fd >= 0 && !give_temporary_name(&probe, fd);

	if (can)
		unlinkat(folder, probe.temporary, 0);
	if (fd >= 0)
		close(fd);
	return can;
}

static int open_temporary(struct output_file *file, mode_t mode)
{
	int fd = can_give_names(file->folder)
			 ? openat(file->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)
			 : -1;

	file->is_nameless = fd >= 0;
	if (fd < 0)
		fd = open_with_name(file, mode);
	if (fd >= 0)
		give_to_invoker(fd);
	return fd;
}

/* A descriptor to write to, or -errno. */
static int open_target(struct output_file *file, const char *path)
{
	mode_t mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
	int descriptor = parse_descriptor(path);
	const char *name = folder__name_in(path);
	bool is_device = false;
	int err;

	if (descriptor >= 0) {
		err = check_descriptor(descriptor);
		if (err)
			return err;
		descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
		return descriptor < 0 ? -errno : descriptor;
	}
	if (!*path)
		return -ENOENT;
	if (!*name)
		return -EISDIR;
	err = check_target(path, &is_device, &mode);
	if (err)
		return err;
	if (is_device)
		return open_device(path);
	err = folder__open_of(path);
	if (err < 0)
		return err;
	file->folder = err;
	strcpy(file->name, name);
	return open_temporary(file, mode);
}

static int open_named(struct output_file *file, const char *path)
{
	int fd = open_target(file, path);

	if (fd < 0)
		return fd;
	file->stream = fdopen(fd, "w");
	if (!file->stream) {
		int err = -errno;

		close(fd);
		return err;
	}
	return 0;
}

static int open_stdout(struct output_file *file)
{
	file->stream = stdout;
	return check_descriptor(STDOUT_FILENO);
}

int output_file__open(const char *path, struct output_file **file)
{
	struct output_file *made = calloc(1, sizeof(*made) + strlen(path) + 1);
	int err;

	*file = NULL;
	if (!made)
		return -ENOMEM;
	made->folder = -1;
	err = strcmp(path, "-") ? open_named(made, path) : open_stdout(made);
	if (err)
		goto cleanup;
	*file = made;
	made = NULL;
cleanup:
	if (made)
		finish(made, err);
	return err;
}

/* In the folder that is held open, with the permissions that were found right for it. */
static int open_again(const struct output_file *file, struct output_file *made)
{
	struct stat status;
	int fd;

	made->folder = fcntl(file->folder, F_DUPFD_CLOEXEC, 0);
	if (made->folder < 0 || fstat(fileno(file->stream), &status))
		return -errno;
	strcpy(made->name, file->name);
	fd = open_temporary(made, status.st_mode & ALLPERMS);
	if (fd < 0)
		return fd;
	made->stream = fdopen(fd, "w");
	if (made->stream)
		return 0;
	close(fd);
	return -ENOMEM;
}

int output_file__again(const struct output_file *file, struct output_file **again)
{
	struct output_file *made;
	int err;

	*again = NULL;
	if (file->folder < 0)
		return -ENOTSUP;
	made = calloc(1, sizeof(*made) + strlen(file->name) + 1);
	if (!made)
		return -ENOMEM;
	err = open_again(file, made);
	if (err)
		finish(made, err);
	else
		*again = made;
	return err;
}

FILE *output_file__stream(struct output_file *file)
{
	return file->stream;
}

int output_file__commit(struct output_file *file)
{
	int err = 0;

	if (fflush(file->stream))
		err = -errno;
	else if (ferror(file->stream))
		err = -EIO;
	return finish(file, err);
}

void output_file__discard(struct output_file *file)
{
	if (file)
		finish(file, -ECANCELED);
}
