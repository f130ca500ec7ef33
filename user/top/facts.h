/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines above the table: what is sampled, what it did in the last second, what was lost, and
 * what luaspy cost. Each function draws a line.
 */
#ifndef LS_FACTS_H
#define LS_FACTS_H

#include <stdbool.h>

#include "top/row_writer.h"

/* The target, or the function whose callers and callees are shown; the time since the start. */
void facts__draw_title(const struct row_writer *writer);

/* Of a single process. */
void facts__draw_interpreter(const struct row_writer *writer);
void facts__draw_layout(const struct row_writer *writer);

/* The CPU time of the processes, the shares of script and GC in it, and the samples per second. */
void facts__draw_work(const struct row_writer *writer);

/*
 * What virtual machines that compile were doing. The line stays once something was compiled, so
 * that the table does not move whenever a second has none of it. The help needs the room.
 */
bool facts__have_split(const struct top_view *top_view);
void facts__draw_split(const struct row_writer *writer);

/* Samples without a whole stack, and processes that were missed. */
void facts__draw_losses(const struct row_writer *writer);

/* luaspy's CPU time, and how many warnings there were. */
void facts__draw_cost(const struct row_writer *writer);

/* The cost compared with --max-overhead, and the frequency that results. */
void facts__draw_limit(const struct row_writer *writer);

#endif
