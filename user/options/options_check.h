/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the options of `luaspy record` make sense together. */
#ifndef LS_OPTIONS_CHECK_H
#define LS_OPTIONS_CHECK_H

#include <stdbool.h>

#include "options/options.h"

/* OPTIONS_RUN, or OPTIONS_WRONG after reporting in one line which options conflict. */
enum options_verdict options_check__record(const struct record_options *record, bool has_command);

#endif
