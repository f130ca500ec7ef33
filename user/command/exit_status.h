/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exit statuses of luaspy; 2, wrong usage, is known before a command runs. */
#ifndef LS_EXIT_STATUS_H
#define LS_EXIT_STATUS_H

enum exit_status { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOTHING = 3 };

#endif
