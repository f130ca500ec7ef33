/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order of the rows of a listing. */
#ifndef LS_ROW_ORDER_H
#define LS_ROW_ORDER_H

#include "top/listing.h"

/* For qsort_r(): two indices of rows or processes; `context` is the listing. */
int row_order__compare(const void *a, const void *b, void *context);

#endif
