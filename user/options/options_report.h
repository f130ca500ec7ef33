/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_OPTIONS_REPORT_H
#define LS_OPTIONS_REPORT_H

#include "options/options.h"

/* As options__parse(), for luaspy report; argv[0] is "report". */
enum options_verdict options_report__parse(int argc, char **argv, struct report_options *report);

enum options_verdict options_report__help(void);

#endif
