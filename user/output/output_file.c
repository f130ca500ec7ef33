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
#include <unistd.h>

#include "output/output_file.h"
#include "output/special_file.h"
#include "system/folder.h"
#include "system/user_rights.h"

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
	bool is_nameless; /* until it is complete, so that no partial file is left behind */
	bool is_callers;  /* made by the user who called sudo; else by root, or without sudo */
	bool has_owner;   /* it gets these from the file that it replaces: */
	uid_t owner;
	gid_t group;
	mode_t mode; /* 0: MODE less the umask */
	char name[];
};

/* A profile reveals details of its processes, so others may not read it. */
#define MODE (S_IRUSR | S_IWUSR | S_IRGRP)

/* Takes the rights with which the file was made: see user_rights__take(). */
static int take_rights(const struct output_file *file, struct user_rights *rights)
{
	*rights = (struct user_rights){};
	return geteuid() || file->is_callers ? user_rights__take(rights) : 0;
}

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

/* Gives the nameless file behind `fd` its name or, if that is taken, a temporary one. */
static int give_name(struct output_file *file, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!linkat(AT_FDCWD, path, file->folder, file->name, AT_SYMLINK_FOLLOW))
		return 0;
	return give_temporary_name(file, fd);
}

/* Closes the stream unless it is stdout; *fd stays open for a file that has no name yet. */
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

/* Names a nameless file, and renames or removes a temporary one, all in the folder held open. */
static int settle(struct output_file *file, int fd, int error)
{
	struct user_rights rights;
	int rights_error = take_rights(file, &rights);

	if (!error)
		error = rights_error;
	if (!error && file->is_nameless)
		error = give_name(file, fd);
	if (!error && *file->temporary) {
		if (renameat(file->folder, file->temporary, file->folder, file->name))
			error = -errno;
		else
			*file->temporary = '\0';
	}
	if (*file->temporary)
		unlinkat(file->folder, file->temporary, 0);
	user_rights__give_back(&rights);
	return error;
}

/* Frees the file, and removes it if it was not renamed. Leaves only standard output open. */
static int finish(struct output_file *file, int error)
{
	int fd = -1, close_error = close_stream(file, &fd);

	if (!error)
		error = close_error;
	if (file->folder >= 0) {
		error = settle(file, fd, error);
		close(file->folder);
	}
	if (fd >= 0)
		close(fd);
	free(file);
	return error;
}

/* What is at `path` now. A device is written directly, a file is replaced; `old`: its status. */
struct there {
	bool is_device, is_file;
	struct stat old;
};

static int look_at(const char *path, struct there *there)
{
	struct stat *status = &there->old, behind;

	*there = (struct there){};
	if (lstat(path, status))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status->st_mode))
		return -EISDIR;
	there->is_device = special_file__is_device(status);
	there->is_file = S_ISREG(status->st_mode);
	/* Links to devices and sockets, such as those in /dev, must not be replaced. */
	if (S_ISLNK(status->st_mode)) {
		if (stat(path, &behind) || S_ISREG(behind.st_mode))
			return 0;
		return S_ISDIR(behind.st_mode) ? -EISDIR : -EINVAL;
	}
	return there->is_file || there->is_device ? 0 : -EINVAL;
}

/*
 * The new file gets the owner and mode of the one that it replaces: root's file remains root's, and
 * a private file remains private. But in a folder where anyone may create files, a stranger may
 * have put the file there to get the profile.
 */
static int take_over(struct output_file *file, const struct stat *old,
		     const struct user_rights *rights)
{
	struct stat folder;
	bool is_own = old->st_uid == rights->uid, is_sticky, is_shared;

	if (rights->is_callers && old->st_uid == geteuid())
		return -EPERM;
	if (fstat(file->folder, &folder))
		return -errno;
	is_sticky = folder.st_mode & S_ISVTX;
	is_shared = is_sticky && folder.st_mode & (S_IWGRP | S_IWOTH);
	/* rename(2) would fail: fail now, not when there is something to lose. */
	if (is_sticky && !is_own && rights->uid && folder.st_uid != rights->uid)
		return -EPERM;
	if (!is_own && (rights->uid || (is_shared && !user_rights__trust(old->st_uid))))
		return 0;
	file->has_owner = true;
	file->owner = old->st_uid;
	file->group = old->st_gid;
	if (!file->mode)
		file->mode = old->st_mode & OUTPUT_FILE_MODE_MOST;
	return 0;
}

/* A file system without owners must not cost the recording, but then the group gets no access. */
static void adopt(const struct output_file *file, int fd)
{
	mode_t mode = file->mode;
	struct stat made;

	if (file->has_owner && !fstat(fd, &made) &&
	    (made.st_uid != file->owner || made.st_gid != file->group) &&
	    fchown(fd, file->owner, file->group))
		mode &= ~(mode_t)S_IRWXG;
	if (file->mode && fchmod(fd, mode))
		return;
}

/* For file systems without nameless files (O_TMPFILE). */
static int open_with_name(struct output_file *file)
{
	int fd = -1;

	for (int i = 0; i < ATTEMPTS; i++) {
		int error = choose_temporary(file);

		if (error)
			return error;
		fd = openat(file->folder, file->temporary,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    file->mode ? S_IRUSR | S_IWUSR : MODE);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0) {
		int error = -errno;

		*file->temporary = '\0';
		return error;
	}
	return fd;
}

/* Not every file system has nameless files (O_TMPFILE), nor can each that has them link them. */
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

static int open_temporary(struct output_file *file)
{
	mode_t mode = file->mode ? S_IRUSR | S_IWUSR : MODE;
	int fd = can_give_names(file->folder)
			 ? openat(file->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)
			 : -1;

	file->is_nameless = fd >= 0;
	if (fd < 0)
		fd = open_with_name(file);
	if (fd >= 0)
		adopt(file, fd);
	return fd;
}

static int open_descriptor(int descriptor)
{
	int error = special_file__check(descriptor);

	if (error)
		return error;
	descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
	return descriptor < 0 ? -errno : descriptor;
}

struct opening {
	struct output_file *file;
	const char *path;
	mode_t mode; /* as requested; 0: none */
	int fd;
};

/* A user_rights_attempt(): whatever the path reveals is looked up with the user's rights. */
static int open_path(void *context, const struct user_rights *rights)
{
	struct opening *opening = context;
	struct output_file *file = opening->file;
	struct there there;
	int error = look_at(opening->path, &there);

	if (error)
		return error;
	if (there.is_device) {
		opening->fd = special_file__open(opening->path);
		return opening->fd < 0 ? opening->fd : 0;
	}
	error = folder__open_of(opening->path);
	if (error < 0)
		return error;
	file->folder = error;
	file->is_callers = rights->is_callers;
	file->has_owner = false;
	file->mode = opening->mode;
	error = there.is_file ? take_over(file, &there.old, rights) : 0;
	if (!error)
		error = opening->fd = open_temporary(file);
	if (error >= 0)
		return 0;
	close(file->folder);
	file->folder = -1;
	return error;
}

/* A descriptor to write to, or -errno. */
static int open_target(struct output_file *file, const char *path)
{
	struct opening opening = {.file = file, .path = path, .mode = file->mode};
	int descriptor = special_file__descriptor(path);
	const char *name = folder__name_in(path);
	int error;

	if (descriptor >= 0)
		return open_descriptor(descriptor);
	if (!*path)
		return -ENOENT;
	if (!*name)
		return -EISDIR;
	strcpy(file->name, name);
	error = user_rights__try(open_path, &opening);
	return error ? error : opening.fd;
}

static int open_named(struct output_file *file, const char *path)
{
	int fd = open_target(file, path);

	if (fd < 0)
		return fd;
	file->stream = fdopen(fd, "w");
	if (!file->stream) {
		int error = -errno;

		close(fd);
		return error;
	}
	return 0;
}

static int open_stdout(struct output_file *file)
{
	file->stream = stdout;
	return special_file__check(STDOUT_FILENO);
}

int output_file__open(const char *path, mode_t mode, struct output_file **file)
{
	struct output_file *made = calloc(1, sizeof(*made) + strlen(path) + 1);
	int error;

	*file = NULL;
	if (!made)
		return -ENOMEM;
	made->folder = -1;
	made->mode = mode;
	error = strcmp(path, "-") ? open_named(made, path) : open_stdout(made);
	if (error)
		goto cleanup;
	*file = made;
	made = NULL;
cleanup:
	if (made)
		finish(made, error);
	return error;
}

/* Opens it in the folder held open, with the owner and mode that were determined for `file`. */
static int open_again(const struct output_file *file, struct output_file *made)
{
	struct user_rights rights;
	int fd, error;

	strcpy(made->name, file->name);
	made->is_callers = file->is_callers;
	made->has_owner = file->has_owner;
	made->owner = file->owner;
	made->group = file->group;
	made->mode = file->mode;
	made->folder = fcntl(file->folder, F_DUPFD_CLOEXEC, 0);
	if (made->folder < 0)
		return -errno;
	error = take_rights(file, &rights);
	if (error)
		return error;
	fd = open_temporary(made);
	user_rights__give_back(&rights);
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
	int error;

	*again = NULL;
	if (file->folder < 0)
		return -ENOTSUP;
	made = calloc(1, sizeof(*made) + strlen(file->name) + 1);
	if (!made)
		return -ENOMEM;
	error = open_again(file, made);
	if (error)
		finish(made, error);
	else
		*again = made;
	return error;
}

FILE *output_file__stream(struct output_file *file)
{
	return file->stream;
}

int output_file__commit(struct output_file *file)
{
	int error = 0;

	if (fflush(file->stream))
		error = -errno;
	else if (ferror(file->stream))
		error = -EIO;
	return finish(file, error);
}

void output_file__discard(struct output_file *file)
{
	if (file)
		finish(file, -ECANCELED);
}
