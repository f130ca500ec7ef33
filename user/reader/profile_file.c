/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "reader/input_format.h"
#include "system/resource_limits.h"
#include "system/user_rights.h"

struct profile_file {
	struct loaded_profile loaded;
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

static int read_file(struct profile_file *file, const char *path, char reason[INPUT_REASON_SIZE])
{
	struct opening opening = {.path = path, .fd = STDIN_FILENO};
	bool is_input = !strcmp(path, "-");
	int error = is_input ? 0 : user_rights__try(open_path, &opening);
	struct input_stream *stream = error ? NULL : input_stream__of_file(opening.fd);

	if (!error)
		error = stream ? input_format__read(stream, &file->loaded, reason) : -ENOMEM;
	input_stream__free(stream);
	if (!is_input && opening.fd >= 0)
		close(opening.fd);
	return error;
}

int profile_file__open(const char *path, struct profile_file **opened)
{
	struct profile_file *file = calloc(1, sizeof(*file));
	char reason[INPUT_REASON_SIZE] = "";
	int error = file ? read_file(file, path, reason) : -ENOMEM;

	*opened = NULL;
	if (error)
		log_error("cannot read '%s': %s", path,
			  *reason ? reason : resource_limits__reason(error));
	if (error)
		profile_file__close(file);
	else
		*opened = file;
	return error;
}

void profile_file__close(struct profile_file *file)
{
	if (!file)
		return;
	loaded_profile__clear(&file->loaded);
	free(file);
}

const struct ls_profile *profile_file__profile(const struct profile_file *file)
{
	return loaded_profile__profile(&file->loaded);
}
