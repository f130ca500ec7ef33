/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_COMMAND_REPORT_H
#define LS_COMMAND_REPORT_H

#include "options/options.h"

/* Prints views of recordings. Returns the exit status. */
int command_report__run(const struct report_options *options);

#endif
