/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Views of recordings as text or as JSON: what 'luaspy report' prints. */
#ifndef LS_REPORT_H
#define LS_REPORT_H

#include <stdio.h>

#include "report/report_data.h"
#include "summary/printer.h"

/* 0, -ENOMEM or -errno of writing. Errors may also stay in the stream, until it is flushed. */
int report__print(const struct report *report, const struct printer *printer);
int report__write_json(const struct report *report, FILE *stream);

#endif
