/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The source line of each instruction of a prototype. */
#ifndef LS_LINE_TABLE_H
#define LS_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "worker/message.h"

/* Far more than any real function has, even a generated one; their lines take 16 MiB to read. */
#define LINE_TABLE_INSTRUCTIONS_MAX (4U << 20)

struct line_table;

/*
 * Makes the table of a prototype from the lines of its instructions, of which there is at least
 * one. 0 with *table; -EINVAL: a line is negative; -ENOMEM. Free with line_table__free(), which
 * takes NULL.
 */
int line_table__new(const int32_t *lines, uint32_t instructions, struct line_table **table);
void line_table__free(struct line_table *table);

/* 0 with a copy in *copy, which is the caller's; -ENOMEM. */
int line_table__copy(const struct line_table *table, struct line_table **copy);

/* The line of instruction `pc`, from 1; 0: there is no such instruction, or no table (NULL). */
uint32_t line_table__line(const struct line_table *table, uint32_t pc);

/*
 * line_table__put() appends the table to a message. line_table__take() reads one from an untrusted
 * process: 0 with *table, NULL if `table` was NULL; -EBADMSG, -ENOMEM.
 */
void line_table__put(const struct line_table *table, struct message *message);
int line_table__take(struct message *message, struct line_table **table);

/* Memory that the table takes, in bytes. */
size_t line_table__size(const struct line_table *table);

#endif
