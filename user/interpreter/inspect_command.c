/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the command line of a process, which is memory of the process. */
#include "interpreter/inspection_internal.h"
#include "process/command_line.h"

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
	message__put_text(answer, line.script);
	return 0;
}

/* ---- in luaspy */

int inspector__command_line(struct inspector *inspector, pid_t pid, struct command_line *line)
{
	struct message *answer;
	int error;

	*line = (struct command_line){};
	inspector__request(inspector, INSPECTOR_MEMORY, INSPECT_COMMAND, pid);
	error = inspector__ask(inspector, &answer);
	if (error)
		return error;
	message__take_text_into(answer, line->text, sizeof(line->text));
	message__take_text_into(answer, line->script, sizeof(line->script));
	return message__end(answer);
}
