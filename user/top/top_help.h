/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the keys and columns of `luaspy top` mean, shown in the place of the table. */
#ifndef LS_TOP_HELP_H
#define LS_TOP_HELP_H

#include <stdint.h>

#include "top/row_writer.h"

/* How many lines it takes, wrapped at `width`, which is at least 1. */
uint32_t top_help__lines(unsigned width);

/* Draws `height` of these lines, from `first` on; empty ones after the last. */
void top_help__draw(const struct row_writer *writer, uint32_t first, uint32_t height);

#endif
