/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exit statuses of luaspy. Wrong usage, 2, is detected before a command does anything; but for a
 * name that several processes have.
 */
#ifndef LS_EXIT_STATUS_H
#define LS_EXIT_STATUS_H

enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOTHING = 3,
	EXIT_WORSE = 4, /* diff --fail-over: something became slower */
};

#endif
