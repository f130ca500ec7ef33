/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The families of luaspy, and one more: this file is found before include/families.h. */
#undef LS_FURTHER_FAMILIES
#define LS_FURTHER_FAMILIES(X) X(TOY, toy)
#include_next <families.h>
