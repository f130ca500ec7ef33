/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of a picture: functions, or processes. */
#ifndef LS_TABLE_H
#define LS_TABLE_H

#include <stdint.h>

#include "pen.h"

void table__draw_head(const struct pen *pen);

/* What is at a place in the listing's order. */
void table__draw_row(const struct pen *pen, uint32_t at);

#endif
