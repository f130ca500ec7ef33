/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rows a table or tree has, and in what order. */
#ifndef LS_ROW_CHOICE_H
#define LS_ROW_CHOICE_H

#include <stdint.h>

enum row_order { ROW_ORDER_SELF, ROW_ORDER_TOTAL, ROW_ORDER_NAME };

struct row_choice {
	enum row_order order;
	uint32_t limit;        /* rows, at most */
	uint64_t least_us;     /* of total time; without any, nothing is shown */
	const uint8_t *hidden; /* by id of the function or node; NULL: none is */
};

#endif
