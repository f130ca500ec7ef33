/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_COMMAND_TOP_H
#define LS_COMMAND_TOP_H

#include "options/options.h"

/*
 * Shows what processes do until the user quits; after their end it keeps the last picture. Then it
 * restores the terminal and sums up in one line what was seen. Returns an exit status.
 */
int command_top__run(const struct top_options *options);

#endif
