/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "invoker.h"
#include "log.h"

struct control {
	int fd;
	int folder;         /* held open: what was made there is removed there */
	struct stat status; /* of the FIFO */
	bool is_made;       /* by us */
	bool is_cut;        /* the rest of a line that is too long is still to come */
	bool has_read;      /* since CONTROL_NONE was returned last */
	uint64_t misunderstood;
	size_t begin, end; /* of what is in `bytes` and was not taken */
	char bytes[CONTROL_LINE_MAX + 1];
	char name[];
};

/*
 * Made by root, it is given to whom luaspy works for; nobody else can have put another in its place
 * that looks the same: one of root's, with a single name.
 */
static int give_to_invoker(int fd, const struct stat *status)
{
	struct invoker invoker;

	if (!invoker__find(&invoker))
		return 0;
	if (status->st_uid != geteuid() || status->st_nlink != 1)
		return -EPERM;
	return fchownat(fd, "", invoker.uid, invoker.gid, AT_EMPTY_PATH) ? -errno : 0;
}

/*
 * What is there is looked at before it is opened, which a device may take for a command. Open for
 * both ways it has a writer at all times, so that no end of file is ever seen.
 */
static int open_fifo(struct control *control)
{
	struct stat *status = &control->status;
	char path[64];
	int place, error = 0;

	if (!mkfifoat(control->folder, control->name, S_IRUSR | S_IWUSR))
		control->is_made = true;
	else if (errno != EEXIST)
		return -errno;
	place = openat(control->folder, control->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0)
		return -errno;
	if (fstat(place, status))
		error = -errno;
	else if (!S_ISFIFO(status->st_mode))
		error = -EINVAL;
	else if (control->is_made)
		error = give_to_invoker(place, status);
	if (!error) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
		control->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		error = control->fd < 0 ? -errno : 0;
	}
	close(place);
	return error;
}

int control__open(const char *path, struct control **opened)
{
	const char *name = folder__name_in(path);
	struct control *control = calloc(1, sizeof(*control) + strlen(name) + 1);
	int error;

	*opened = NULL;
	if (!control)
		return -ENOMEM;
	control->fd = -1;
	strcpy(control->name, name);
	error = control->folder = folder__open_of(path);
	if (error >= 0)
		error = *name ? open_fifo(control) : -EISDIR;
	if (!error) {
		*opened = control;
		return 0;
	}
	if (error == -EINVAL)
		log_error("cannot take commands from '%s': not a FIFO", path);
	else
		log_error("cannot take commands from '%s': %s", path, strerror(-error));
	control__close(control);
	return error;
}

/* Unless something else is there by now. */
static void remove_fifo(const struct control *control)
{
	const struct stat *ours = &control->status;
	struct stat there;

	if (!fstatat(control->folder, control->name, &there, AT_SYMLINK_NOFOLLOW) &&
	    ours->st_dev == there.st_dev && ours->st_ino == there.st_ino)
		unlinkat(control->folder, control->name, 0);
}

void control__close(struct control *control)
{
	if (!control)
		return;
	if (control->misunderstood > 1)
		log_warn("%" PRIu64 " commands were not understood", control->misunderstood);
	if (control->is_made)
		remove_fifo(control);
	if (control->fd >= 0)
		close(control->fd);
	if (control->folder >= 0)
		close(control->folder);
	free(control);
}

int control__fd(const struct control *control)
{
	return control->fd;
}

/* 1: there is more in the buffer than was. */
static int fill(struct control *control)
{
	ssize_t length;

	memmove(control->bytes, control->bytes + control->begin, control->end - control->begin);
	control->end -= control->begin;
	control->begin = 0;
	length = read(control->fd, control->bytes + control->end, CONTROL_LINE_MAX - control->end);
	if (length > 0)
		control->end += (size_t)length;
	return length > 0;
}

/* A whole line, ended by NUL; NULL: there is none. */
static char *next_line(struct control *control)
{
	char *line = control->bytes + control->begin;
	size_t length = control->end - control->begin;

	for (size_t i = 0; i < length; i++) {
		if (line[i] && line[i] != '\n')
			continue;
		line[i] = '\0';
		control->begin += i + 1;
		return line;
	}
	return NULL;
}

static void misunderstand(struct control *control, const char *what, const char *line)
{
	if (!control->misunderstood++)
		log_warn("%s '%.64s%s' (accepted: pause, resume, mark TEXT, write, stop)", what,
			 line, strlen(line) > 64 ? "..." : "");
}

static char *trim(char *line)
{
	static const char blanks[] = " \t\r\v\f";
	size_t length;

	line += strspn(line, blanks);
	for (length = strlen(line); length && strchr(blanks, line[length - 1]); length--)
		;
	line[length] = '\0';
	return line;
}

/* CONTROL_NONE: it is none. */
static enum control_command parse(struct control *control, char *line, const char **text)
{
	static const struct {
		const char *word;
		enum control_command command;
	} commands[] = {
		{"pause", CONTROL_PAUSE}, {"resume", CONTROL_RESUME}, {"mark", CONTROL_MARK},
		{"write", CONTROL_WRITE}, {"stop", CONTROL_STOP},
	};

	line = trim(line);
	*text = NULL;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		size_t length = strlen(commands[i].word);
		bool is_mark = commands[i].command == CONTROL_MARK;

		if (strncmp(line, commands[i].word, length))
			continue;
		if (line[length] && !(is_mark && strchr(" \t", line[length])))
			continue;
		if (is_mark)
			*text = trim(line + length);
		return commands[i].command;
	}
	if (*line)
		misunderstand(control, "unknown command", line);
	return CONTROL_NONE;
}

/* The buffer is full and holds no whole line. */
static void cut_off(struct control *control)
{
	control->bytes[control->end] = '\0';
	if (!control->is_cut)
		misunderstand(control, "command is too long:", control->bytes);
	control->is_cut = true;
	control->begin = control->end = 0;
}

enum control_command control__take(struct control *control, const char **text)
{
	enum control_command command = CONTROL_NONE;
	char *line;

	while (command == CONTROL_NONE) {
		line = next_line(control);
		if (!line && control->end - control->begin == CONTROL_LINE_MAX)
			cut_off(control);
		if (!line && (control->has_read || !fill(control))) {
			control->has_read = false;
			return CONTROL_NONE;
		}
		if (!line) {
			control->has_read = true;
			continue;
		}
		/* The end of one that was too long. */
		if (!control->is_cut)
			command = parse(control, line, text);
		control->is_cut = false;
	}
	return command;
}
