/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/file_bytes.h"
#include "process/process.h"
#include "process/quarantine.h"
#include "system/privileges.h"

#define NS UINT64_C(1000000000)

/*
 * A look-up can hang before the file is known, as on a FUSE file system. luaspy then quarantines
 * all source files of the process, under this number, which no device has.
 */
#define LOOKUPS UINT64_MAX

/* The kernel tells when a process began in ticks, rounded down (process__birth_ns()). */
#define BIRTH_ERROR_NS UINT64_C(10000000)

/* Components of a path, with those of all links; the kernel follows 40 links (MAXSYMLINKS). */
#define STEPS_MAX 256

/* The same moment by CLOCK_REALTIME, as if nobody had set that clock since. */
static uint64_t in_real_time(uint64_t monotonic_ns)
{
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + monotonic_ns;
}

static uint64_t in_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS + (uint64_t)time->tv_nsec;
}

/* The time of the last change of the content or, as by rename(2) and utimes(2), of the inode. */
static bool has_changed(const struct stat *status, uint64_t since_ns)
{
	return in_ns(&status->st_mtim) > since_ns || in_ns(&status->st_ctim) > since_ns;
}

/* Writes "<working directory>/<name>" or "<name>" to path[PATH_MAX]. */
static int make_absolute(const struct path_context *context, const char *name, char path[PATH_MAX])
{
	bool is_absolute = *name == '/';

	if (!is_absolute && !context->folder)
		return -ENOENT;
	return snprintf(path, PATH_MAX, "%s%s%s", is_absolute ? "" : context->folder,
			is_absolute ? "" : "/", name) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

/* A path that is followed link by link, as the kernel does. */
struct way {
	char done[PATH_MAX]; /* without links: "/srv/app" */
	char left[PATH_MAX]; /* "current/main.lua" */
};

/* Takes `name`, which is no link, over into way->done. */
static int go_on(struct way *way, const char *name)
{
	char *slash = strrchr(way->done, '/');
	size_t length = strlen(way->done);

	if (!strcmp(name, ".."))
		*(slash ? slash : way->done) = '\0';
	else if (strcmp(name, "."))
		return snprintf(way->done + length, PATH_MAX - length, "/%s", name) <
				       (int)(PATH_MAX - length)
			       ? 0
			       : -ENAMETOOLONG;
	return 0;
}

/* Replaces the link that `found` is open for by what it leads to. */
static int follow(struct way *way, int found)
{
	char rest[PATH_MAX], target[PATH_MAX];
	ssize_t length = readlinkat(found, "", target, sizeof(target) - 1);

	if (length < 0)
		return -errno;
	target[length] = '\0';
	if (*target == '/')
		*way->done = '\0';
	strcpy(rest, way->left);
	return snprintf(way->left, PATH_MAX, "%s/%s", target, rest) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/*
 * Whether a folder was renamed since then: this sets its ctime alone. Files that are added or
 * removed set its mtime as well, to the same time.
 */
static bool was_renamed(const struct stat *status, uint64_t since_ns)
{
	return S_ISDIR(status->st_mode) && in_ns(&status->st_ctim) > since_ns &&
	       in_ns(&status->st_ctim) > in_ns(&status->st_mtim);
}

/* Takes one component from way->left. -ESTALE: it leads elsewhere than at that time. */
static int take_step(pid_t pid, struct way *way, uint64_t since_ns)
{
	char name[PATH_MAX], path[2 * PATH_MAX];
	size_t slashes = strspn(way->left, "/"), length = strcspn(way->left + slashes, "/");
	struct stat status = {};
	int found, error = 0;

	snprintf(name, sizeof(name), "%.*s", (int)length, way->left + slashes);
	memmove(way->left, way->left + slashes + length, strlen(way->left + slashes + length) + 1);
	snprintf(path, sizeof(path), "%s/%s", way->done, name);
	found = process__open_in_root(pid, path, O_NOFOLLOW);
	if (found < 0)
		return found;
	if (fstat(found, &status))
		error = -errno;
	else if (!S_ISLNK(status.st_mode))
		error = was_renamed(&status, since_ns) ? -ESTALE : go_on(way, name);
	else
		error = has_changed(&status, since_ns) ? -ESTALE : follow(way, found);
	close(found);
	return error;
}

/*
 * A deployment may make a new link "/srv/app/current", or rename folders. 0; -ESTALE: it did;
 * -ELOOP: too many components; other -errno.
 */
static int check_path(pid_t pid, const char *path, uint64_t since_ns)
{
	struct way way = {};
	int error = 0;

	snprintf(way.left, sizeof(way.left), "%s", path);
	for (int steps = 0; !error && way.left[strspn(way.left, "/")]; steps++)
		error = steps < STEPS_MAX ? take_step(pid, &way, since_ns) : -ELOOP;
	return error;
}

/* Checks that the program loaded this text from the file, whenever it did so. */
static int check_age(const struct path_context *context, const char *path,
		     const struct stat *status)
{
	uint64_t birth_ns = in_real_time(context->birth_ns + BIRTH_ERROR_NS);

	return has_changed(status, birth_ns) ? -ESTALE : check_path(context->pid, path, birth_ns);
}

static int check(const struct path_context *context, const char *path,
		 const struct source_file *file)
{
	const struct stat *status = &file->status;

	if (!S_ISREG(status->st_mode))
		return -ENOEXEC;
	if (status->st_size > SOURCE_BYTES_MAX)
		return -EFBIG;
	if (quarantine__holds(status->st_dev, status->st_ino))
		return -EPERM;
	return check_age(context, path, status);
}

static int find(const struct path_context *context, const char *path, struct source_file *file)
{
	int error;

	file->found = process__open_in_root(context->pid, path, 0);
	if (file->found < 0)
		return file->found;
	error = fstat(file->found, &file->status) ? -errno : check(context, path, file);
	if (error)
		close(file->found);
	return error;
}

int source_file__find(pid_t pid, struct path_context *context, const char *name, bool as_root,
		      struct source_file *file)
{
	char path[PATH_MAX];
	uint64_t aside = 0;
	int error;

	*file = (struct source_file){.found = -1, .as_root = as_root};
	if (quarantine__holds(LOOKUPS, (uint64_t)pid))
		return -EPERM;
	quarantine__enter(LOOKUPS, (uint64_t)pid);
	error = path_context__read(pid, *name != '/', context);
	if (!error)
		error = make_absolute(context, name, path);
	if (!error && !as_root)
		error = privileges__set_aside_files(&aside);
	if (!error)
		error = find(context, path, file);
	privileges__give_back(aside);
	quarantine__leave();
	return error;
}

void source_file__close(struct source_file *file)
{
	close(file->found);
}

static int read_open(int fd, const struct source_file *file, char **text, size_t *size)
{
	const struct stat *before = &file->status;
	uint64_t bytes = (uint64_t)before->st_size;
	struct stat after;

	*text = file_bytes__read(fd, 0, &bytes);
	*size = bytes;
	if (!*text)
		return -ENOMEM;
	if (!fstat(fd, &after) && bytes == (uint64_t)before->st_size &&
	    in_ns(&after.st_mtim) == in_ns(&before->st_mtim) &&
	    in_ns(&after.st_ctim) == in_ns(&before->st_ctim))
		return 0;
	free(*text);
	return -ESTALE;
}

int source_file__read(const struct source_file *file, char **text, size_t *size)
{
	uint64_t aside = 0, there;
	int error = file->as_root ? 0 : privileges__set_aside_files(&aside), fd = -1;

	*text = NULL;
	quarantine__enter(file->status.st_dev, file->status.st_ino);
	if (!error)
		fd = file_bytes__open(file->found, &there);
	privileges__give_back(aside);
	if (fd >= 0)
		error = read_open(fd, file, text, size);
	else if (!error)
		error = fd;
	if (fd >= 0)
		close(fd);
	quarantine__leave();
	return error;
}
