/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "system/user_rights.h"

#define TAB       8
#define LINE_MOST 1024 /* bytes of a line that are shown */
#define MS_PER_S  1000

struct source_text {
	char *text;
	size_t size;
	size_t *starts; /* of lines, from 0 */
	size_t count;
};

static int check(int fd, uint64_t recorded_ms, size_t *size)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	if (status.st_size > SOURCE_TEXT_MOST)
		return -EFBIG;
	if (recorded_ms && (uint64_t)status.st_mtime > recorded_ms / MS_PER_S)
		return -ESTALE;
	*size = (size_t)status.st_size;
	return 0;
}

static int read_text(struct source_text *text, int fd, size_t size)
{
	text->text = malloc(size + 1);
	if (!text->text)
		return -ENOMEM;
	while (text->size < size) {
		ssize_t count = read(fd, text->text + text->size, size - text->size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			break;
		text->size += (size_t)count;
	}
	text->text[text->size] = '\0';
	return 0;
}

static int find_lines(struct source_text *text)
{
	size_t count = 1;

	for (size_t at = 0; at < text->size; at++)
		count += text->text[at] == '\n';
	text->starts = calloc(count + 1, sizeof(*text->starts));
	if (!text->starts)
		return -ENOMEM;
	text->count = 1;
	for (size_t at = 0; at < text->size; at++)
		if (text->text[at] == '\n')
			text->starts[text->count++] = at + 1;
	return 0;
}

/* A FIFO or a device must neither hold luaspy nor see it. */
static int read_file(struct source_text *text, const char *path, uint64_t recorded_ms)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int error = fd < 0 ? -errno : 0;
	size_t size = 0;

	if (!error)
		error = check(fd, recorded_ms, &size);
	if (!error)
		error = read_text(text, fd, size);
	if (!error)
		error = find_lines(text);
	if (fd >= 0)
		close(fd);
	return error;
}

/* In the current folder, then in those of the recordings. */
static int read_any(struct source_text *text, const char *name,
		    const struct source_folders *folders)
{
	int error = read_file(text, name, folders->recorded_ms);

	for (size_t i = 0; error == -ENOENT && *name != '/' && i < folders->count; i++) {
		const char *recording = folders->recordings[i], *slash = strrchr(recording, '/');
		char path[PATH_MAX];

		if (!slash)
			continue;
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - recording), recording,
			     name) < (int)sizeof(path))
			error = read_file(text, path, folders->recorded_ms);
	}
	return error;
}

int source_text__open(const char *name, const struct source_folders *folders,
		      struct source_text **made)
{
	struct source_text *text = calloc(1, sizeof(*text));
	struct user_rights rights;
	int error = text ? 0 : -ENOMEM;

	*made = NULL;
	/* Chunks of text are "[string ...]", C functions are of "[C]". */
	if (!error && (*name == '[' || !*name))
		error = -ENOENT;
	if (!error)
		error = user_rights__take(&rights);
	if (!error) {
		error = read_any(text, name, folders);
		user_rights__give_back(&rights);
	}
	if (error)
		source_text__close(text);
	else
		*made = text;
	return error;
}

void source_text__close(struct source_text *text)
{
	if (!text)
		return;
	free(text->text);
	free(text->starts);
	free(text);
}

char *source_text__format_line(const struct source_text *text, uint32_t line, char *to, size_t size)
{
	char plain[LINE_MOST * TAB + 1];
	size_t length = 0, at, end;

	if (!line || line > text->count)
		return NULL;
	at = text->starts[line - 1];
	end = at + LINE_MOST < text->size ? at + LINE_MOST : text->size;
	for (; at < end && text->text[at] && text->text[at] != '\n' && text->text[at] != '\r'; at++)
		if (text->text[at] != '\t')
			plain[length++] = text->text[at];
		else
			do
				plain[length++] = ' ';
			while (length % TAB);
	plain[length] = '\0';
	return log__printable(plain, to, size);
}
