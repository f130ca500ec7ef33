/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/resource_limits.h"
#include "base/user_rights.h"
#include "reader/read_profile.h"

#define ROOM_LEAST (64U << 10)

/* The whole text is in memory, not mapped: a file that somebody cuts off must not end luaspy. */
struct profile_file {
	char *text;
	size_t size, room;
	struct read_profile *read;
};

struct opening {
	const char *path;
	int fd;
};

static int open_path(void *context, const struct user_rights *rights)
{
	struct opening *opening = context;

	(void)rights;
	opening->fd = open(opening->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return opening->fd < 0 ? -errno : 0;
}

/* Room for more of the file, whose size may be known; and for a NUL behind it. */
static int make_room(struct profile_file *file, int fd)
{
	struct stat status;
	size_t room = file->room ? 2 * file->room : ROOM_LEAST;
	char *text;

	if (file->size + 1 < file->room)
		return 0;
	if (!file->room && !fstat(fd, &status) && status.st_size > (off_t)room)
		room = (size_t)status.st_size + 2;
	if (room > PROFILE_FILE_MOST + 2)
		room = PROFILE_FILE_MOST + 2;
	text = realloc(file->text, room);
	if (!text)
		return -ENOMEM;
	file->text = text;
	file->room = room;
	return 0;
}

static int read_all(struct profile_file *file, int fd)
{
	ssize_t count;

	do {
		int err = make_room(file, fd);

		if (err)
			return err;
		do {
			count = read(fd, file->text + file->size, file->room - file->size - 1);
		} while (count < 0 && errno == EINTR);
		if (count < 0)
			return -errno;
		file->size += (size_t)count;
		if (file->size > PROFILE_FILE_MOST)
			return -EFBIG;
	} while (count);
	file->text[file->size] = '\0';
	return 0;
}

static int read_file(struct profile_file *file, const char *path)
{
	struct opening opening = {.path = path, .fd = STDIN_FILENO};
	bool is_input = !strcmp(path, "-");
	int err = is_input ? 0 : user_rights__try(open_path, &opening);

	if (!err)
		err = read_all(file, opening.fd);
	if (!is_input && opening.fd >= 0)
		close(opening.fd);
	return err;
}

int profile_file__open(const char *path, struct profile_file **opened)
{
	struct profile_file *file = calloc(1, sizeof(*file));
	char reason[READ_PROFILE_REASON_SIZE] = "";
	int err = file ? read_file(file, path) : -ENOMEM;

	*opened = NULL;
	if (!err)
		err = read_profile__new(file->text, file->size, &file->read, reason);
	if (err && *reason)
		log_error("cannot read '%s': %s", path, reason);
	else if (err == -EFBIG)
		log_error("cannot read '%s': it is larger than " PROFILE_FILE_MOST_TEXT, path);
	else if (err)
		log_error("cannot read '%s': %s", path, resource_limits__reason(err));
	if (err)
		profile_file__close(file);
	else
		*opened = file;
	return err;
}

void profile_file__close(struct profile_file *file)
{
	if (!file)
		return;
	read_profile__free(file->read);
	free(file->text);
	free(file);
}

const struct ls_profile *profile_file__profile(const struct profile_file *file)
{
	return read_profile__profile(file->read);
}
