/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words that a process was started with. The process itself may have rewritten them. */
#ifndef LS_COMMAND_LINE_H
#define LS_COMMAND_LINE_H

#include <sys/types.h>

#define COMMAND_LINE_SIZE 512

/* Bytes of the target: writers have to escape them. */
struct command_line {
	char text[COMMAND_LINE_SIZE];   /* the beginning, words separated by blanks; "": none */
	char script[COMMAND_LINE_SIZE]; /* the first argument that names a file; "": none */
};

/* May block, as the process's memory and files do. 0 or -errno. */
int command_line__read(pid_t pid, struct command_line *line);

#endif
