/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Characters in untrusted names that must be escaped before anybody reads them. */
#ifndef LS_CODE_POINT_H
#define LS_CODE_POINT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a character affects the text around it, or is invisible, so that two different names look
 * alike: control characters, line and paragraph separators, directional marks and overrides, and
 * all others that Unicode makes ignorable by default.
 */
bool code_point__misleads(uint32_t code_point);

#endif
