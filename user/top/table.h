/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of the screen: functions, or processes; and the help, which comes in its place. */
#ifndef LS_TABLE_H
#define LS_TABLE_H

#include <stdint.h>

#include "top/row_writer.h"

void table__draw_head(const struct row_writer *writer);

/* Draws the row at index `at` of the listing's order. */
void table__draw_row(const struct row_writer *writer, uint32_t at);

/* How many lines the help takes, which is wrapped at `width`, at least 1. */
uint32_t table__help_lines(unsigned width);

/* Draws `height` of these lines, from `first` on; empty ones after the last. */
void table__draw_help(const struct row_writer *writer, uint32_t first, uint32_t height);

#endif
