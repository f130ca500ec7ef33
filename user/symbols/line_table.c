/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbols/line_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Instructions from `pc` up to the next run, all on one line: neighbours mostly share a line. */
struct run {
	uint32_t pc;
	uint32_t line;
};

struct line_table {
	uint32_t instructions;
	uint32_t count;
	struct run runs[];
};

int line_table__new(const int32_t *lines, uint32_t instructions, struct line_table **table)
{
	struct line_table *made;
	uint32_t count = 1;

	for (uint32_t pc = 0; pc < instructions; pc++) {
		if (lines[pc] < 0)
			return -EINVAL;
		count += pc && lines[pc] != lines[pc - 1];
	}
	made = malloc(sizeof(*made) + count * sizeof(made->runs[0]));
	if (!made)
		return -ENOMEM;
	made->instructions = instructions;
	made->count = 0;
	for (uint32_t pc = 0; pc < instructions; pc++)
		if (!pc || lines[pc] != lines[pc - 1])
			made->runs[made->count++] = (struct run){pc, (uint32_t)lines[pc]};
	*table = made;
	return 0;
}

void line_table__free(struct line_table *table)
{
	free(table);
}

int line_table__copy(const struct line_table *table, struct line_table **copy)
{
	size_t size = line_table__size(table);

	*copy = malloc(size);
	if (!*copy)
		return -ENOMEM;
	memcpy(*copy, table, size);
	return 0;
}

uint32_t line_table__line(const struct line_table *table, uint32_t pc)
{
	uint32_t low = 0, high;

	if (!table || pc >= table->instructions)
		return 0;
	/* The first run starts at 0: there is always one at or before pc. */
	high = table->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (table->runs[middle].pc <= pc)
			low = middle;
		else
			high = middle;
	}
	return table->runs[low].line;
}

size_t line_table__size(const struct line_table *table)
{
	return table ? sizeof(*table) + table->count * sizeof(table->runs[0]) : 0;
}

void line_table__put(const struct line_table *table, struct message *message)
{
	message__put_number(message, table ? table->instructions : 0);
	message__put_number(message, table ? table->count : 0);
	if (table)
		message__put(message, table->runs, table->count * sizeof(table->runs[0]));
}

/* Checks what line_table__line() relies on. */
static bool is_sound(const struct line_table *table)
{
	for (uint32_t i = 1; i < table->count; i++)
		if (table->runs[i].pc <= table->runs[i - 1].pc)
			return false;
	return table->runs[0].pc == 0;
}

int line_table__take(struct message *message, struct line_table **table)
{
	uint64_t instructions = message__take_number(message, LINE_TABLE_INSTRUCTIONS_MAX);
	uint64_t count = message__take_number(message, instructions);
	struct line_table *made;

	*table = NULL;
	if (!count)
		return message->error;
	made = malloc(sizeof(*made) + count * sizeof(made->runs[0]));
	if (!made)
		return -ENOMEM;
	made->instructions = (uint32_t)instructions;
	made->count = (uint32_t)count;
	message__take(message, made->runs, count * sizeof(made->runs[0]));
	if (!message->error && !is_sound(made))
		message->error = -EBADMSG;
	if (message->error)
		free(made);
	else
		*table = made;
	return message->error;
}
