/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the options of `luaspy record` make sense together. */
#ifndef LS_RECORD_CONFLICTS_H
#define LS_RECORD_CONFLICTS_H

#include <stdbool.h>

#include "options/options.h"

/* OPTIONS_RUN, or OPTIONS_WRONG after reporting in one line which options conflict. */
enum options_verdict record_conflicts__check(const struct record_options *record, bool has_command);

#endif
