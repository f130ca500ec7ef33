/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_COMMAND_TOP_H
#define LS_COMMAND_TOP_H

#include "options.h"

/*
 * Shows what a process does until somebody quits; after its end, the last picture. Then the
 * terminal is as it was, and one line says what was seen. An exit status.
 */
int command_top__run(const struct top_options *options);

#endif
