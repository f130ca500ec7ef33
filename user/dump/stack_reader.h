/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the names and lines of stack frames while the functions are alive. */
#ifndef LS_STACK_READER_H
#define LS_STACK_READER_H

#include "dump/dump.h"
#include "interpreter/inspection.h"
#include "record.h"

struct stack_reader;

/*
 * NULL when out of memory. `inspector` and `counts` are borrowed. Free with stack_reader__free(),
 * which takes NULL.
 */
struct stack_reader *stack_reader__new(pid_t pid, struct inspector *inspector,
				       struct dump_counts *counts);
void stack_reader__free(struct stack_reader *reader);

/* Defines a prototype, before any stack that contains it. 0 or -ENOMEM. */
int stack_reader__define(struct stack_reader *reader, const struct ls_function *function);

/*
 * Reads names and lines of a sample's stack into *stack, which is empty; the names are available
 * once stack_reader__finish() has been called. 0 or -ENOMEM.
 */
int stack_reader__read(struct stack_reader *reader, const struct ls_sample *sample,
		       const struct ls_frame *frames, struct dump_stack *stack);
void dump_stack__free(struct dump_stack *stack);

/* Names the functions that only the VMs' tables name. */
void stack_reader__finish(struct stack_reader *reader);

/*
 * Points the frames at their names, which are valid until the reader is freed. Call it after
 * stack_reader__finish().
 */
void stack_reader__name(struct stack_reader *reader, struct dump_stack *stack);

#endif
