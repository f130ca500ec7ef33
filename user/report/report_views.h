/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The views that have a file of their own; for this folder alone. */
#ifndef LS_REPORT_VIEWS_H
#define LS_REPORT_VIEWS_H

#include "report/report_data.h"
#include "summary/printer.h"

/* Each prints its title. 0 or -ENOMEM. */
int report_callgraph__print(const struct report *report, const struct printer *printer);
int report_lines__print(const struct report *report, const struct printer *printer);
int report_tree__print(const struct report *report, const struct printer *printer);
int report_bottom_up__print(const struct report *report, const struct printer *printer);

#endif
