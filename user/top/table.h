/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of the screen: functions, or processes. */
#ifndef LS_TABLE_H
#define LS_TABLE_H

#include <stdint.h>

#include "top/row_writer.h"

void table__draw_head(const struct row_writer *writer);

/* Draws the row at index `at` of the listing's order. */
void table__draw_row(const struct row_writer *writer, uint32_t at);

#endif
