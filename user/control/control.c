/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/fifo.h"
#include "system/resource_limits.h"

struct control {
	struct fifo *commands, *answers; /* `answers` may be NULL */
	bool is_cut;                     /* the rest of an overlong line is still to come */
	bool has_read;                   /* since CONTROL_NONE was returned last */
	uint64_t misunderstood, unanswered;
	size_t begin, end; /* the part of `bytes` not taken yet */
	char bytes[CONTROL_LINE_MAX + 1];
};

static const struct {
	const char *word;
	enum control_command command;
} commands[] = {
	{"pause", CONTROL_PAUSE}, {"resume", CONTROL_RESUME}, {"mark", CONTROL_MARK},
	{"write", CONTROL_WRITE}, {"stop", CONTROL_STOP},
};

static int open_fifo(const char *path, const char *purpose, struct fifo **fifo)
{
	int error = fifo__open(path, fifo);

	if (error == -EINVAL)
		log_error("cannot %s '%s': not a FIFO", purpose, path);
	else if (error == -EKEYREJECTED)
		log_error(
			"cannot %s '%s': another user made it (remove it, or choose another name)",
			purpose, path);
	else if (error)
		log_error("cannot %s '%s': %s", purpose, path, resource_limits__reason(error));
	return error;
}

int control__open(const char *path, const char *answers_path, struct control **opened)
{
	struct control *control = calloc(1, sizeof(*control));
	int error;

	*opened = NULL;
	if (!control)
		return -ENOMEM;
	error = open_fifo(path, "take commands from", &control->commands);
	if (!error && answers_path)
		error = open_fifo(answers_path, "answer in", &control->answers);
	if (!error && control->answers && fifo__is_same(control->commands, control->answers)) {
		log_error("cannot answer in '%s': commands come from there", answers_path);
		error = -EINVAL;
	}
	if (error)
		control__close(control);
	else
		*opened = control;
	return error;
}

void control__close(struct control *control)
{
	if (!control)
		return;
	if (control->misunderstood > 1)
		log_warn("%" PRIu64 " commands were not understood", control->misunderstood);
	if (control->unanswered)
		log_warn("%" PRIu64 " answers to commands were lost: nobody read the earlier ones",
			 control->unanswered);
	fifo__close(control->commands);
	fifo__close(control->answers);
	free(control);
}

int control__fd(const struct control *control)
{
	return fifo__fd(control->commands);
}

/* A line is shorter than PIPE_BUF: it is written whole, or not at all if nobody reads. */
static void answer(struct control *control, const char *line)
{
	ssize_t length = (ssize_t)strlen(line);

	if (control->answers && write(fifo__fd(control->answers), line, (size_t)length) != length)
		control->unanswered++;
}

void control__answer(struct control *control, enum control_command command, const char *failure)
{
	char line[CONTROL_LINE_MAX];
	const char *word = "";

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (commands[i].command == command)
			word = commands[i].word;
	if (failure)
		snprintf(line, sizeof(line), "failed %s: %s\n", word, failure);
	else
		snprintf(line, sizeof(line), "ok %s\n", word);
	answer(control, line);
}

/* Reads more into the buffer. 1: it has read something; 0: nothing. */
static int fill(struct control *control)
{
	ssize_t length;

	memmove(control->bytes, control->bytes + control->begin, control->end - control->begin);
	control->end -= control->begin;
	control->begin = 0;
	length = read(control__fd(control), control->bytes + control->end,
		      CONTROL_LINE_MAX - control->end);
	if (length > 0)
		control->end += (size_t)length;
	return length > 0;
}

/* Returns a complete line, NUL-terminated; NULL: there is none. */
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
	answer(control, "failed: not understood\n");
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

/* Returns CONTROL_NONE if the line is not a command. */
static enum control_command parse(struct control *control, char *line, const char **text)
{
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

/* Discards the buffer, which is full without a complete line. */
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
		/* After cut_off(), this is only the end of the overlong line. */
		if (!control->is_cut)
			command = parse(control, line, text);
		control->is_cut = false;
	}
	return command;
}
