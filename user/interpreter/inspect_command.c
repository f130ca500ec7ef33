/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the command line of a process, which is memory of the process. */
#include <errno.h>

#include "interpreter/inspection_internal.h"
#include "process/command_line.h"
#include "process/process.h"

/* ---- in the worker */

int handle_command(struct inspection *inspection, pid_t pid, struct message *request,
		   struct message *answer)
{
	struct command_line line;
	int error = message__end(request);

	(void)inspection;
	if (!error)
		error = command_line__read(pid, &line);
	if (error)
		return error;
	message__put_text(answer, line.text);
	message__put_text(answer, line.program);
	message__put_text(answer, line.script);
	return 0;
}

/* ---- in luaspy */

int inspector__command_line(struct inspector *inspector, pid_t pid, struct command_line *line)
{
	struct message *answer;
	int error;

	*line = (struct command_line){};
	inspector__request(inspector, INSPECTOR_COMMANDS, INSPECT_COMMAND, pid);
	error = inspector__ask(inspector, &answer);
	if (error)
		return error;
	message__take_text_into(answer, line->text, sizeof(line->text));
	message__take_text_into(answer, line->program, sizeof(line->program));
	message__take_text_into(answer, line->script, sizeof(line->script));
	return message__end(answer);
}

int inspector__label(struct inspector *inspector, pid_t pid, const char *name,
		     char label[COMMAND_LINE_LABEL_SIZE])
{
	struct command_line line;
	int error = inspector__command_line(inspector, pid, &line);

	if (error)
		line = (struct command_line){};
	command_line__label(&line, name, label);
	return error == -EAGAIN ? error : 0;
}

void inspector__title(struct inspector *inspector, pid_t pid, const char *name,
		      char title[CONTAINER_TITLE_SIZE])
{
	char label[COMMAND_LINE_LABEL_SIZE];
	struct container container;

	inspector__label(inspector, pid, name, label);
	process__container(pid, &container);
	container__title(&container, label, pid, title);
}
