/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Gives the frames of stacks their names and lines, while the functions live. */
#ifndef LS_STACK_READER_H
#define LS_STACK_READER_H

#include "dump.h"
#include "record.h"

struct stack_reader;

/* NULL when out of memory. Free with stack_reader__free(), which takes NULL. */
struct stack_reader *stack_reader__new(pid_t pid, struct dump_counts *counts);
void stack_reader__free(struct stack_reader *reader);

/* What a prototype is, before any stack that has it. 0 or -ENOMEM. */
int stack_reader__define(struct stack_reader *reader, const struct ls_function *function);

/*
 * Reads names and lines of the stack of a sample into *stack, which is empty; the names are there
 * once stack_reader__finish() has been called. 0 or -ENOMEM.
 */
int stack_reader__read(struct stack_reader *reader, const struct ls_sample *sample,
		       const struct ls_frame *frames, struct dump_stack *stack);
void dump_stack__free(struct dump_stack *stack);

/* Names what only the tables of the VMs name. */
void stack_reader__finish(struct stack_reader *reader);

/* Points the frames at their names: good until the reader is freed. After finish(). */
void stack_reader__name(struct stack_reader *reader, struct dump_stack *stack);

#endif
