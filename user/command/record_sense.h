/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the options of `luaspy record` make sense together. */
#ifndef LS_RECORD_SENSE_H
#define LS_RECORD_SENSE_H

#include <stdbool.h>

#include "options.h"

/* OPTIONS_RUN; or OPTIONS_WRONG after saying in one line what does not go together. */
enum options_verdict record_sense__check(const struct record_options *record, bool has_command);

#endif
