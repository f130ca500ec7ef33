/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words that a process was started with. The process itself may have rewritten them. */
#ifndef LS_COMMAND_LINE_H
#define LS_COMMAND_LINE_H

#include <sys/types.h>

#define COMMAND_LINE_SIZE 512

/* Room for what a process is called, at most 64 bytes. */
#define COMMAND_LINE_LABEL_SIZE 65

/* Bytes of the target: writers have to escape them. */
struct command_line {
	char text[COMMAND_LINE_SIZE];    /* the beginning, words separated by blanks; "": none */
	char program[COMMAND_LINE_SIZE]; /* the first word, without its folders */
	char script[COMMAND_LINE_SIZE];  /* the first argument that names a file; "": none */
};

/*
 * May block, as the process's memory and files do. 0 or -errno; -EAGAIN: the process is inside
 * execve(), so ask again soon.
 */
int command_line__read(pid_t pid, struct command_line *line);

/*
 * What an operator calls the process: the program and its script, both without their folders
 * ("lua5.4 server.lua"), or else the beginning of the command line ("nginx: worker process"), or
 * `name` (comm) if there is none. Bytes of the target, like these; "..." stands for what is cut
 * off. Returns `label`.
 */
char *command_line__label(const struct command_line *line, const char *name,
			  char label[COMMAND_LINE_LABEL_SIZE]);

#endif
