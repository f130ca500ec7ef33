/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of this machine's system calls. */
#ifndef LS_SYSTEM_CALL_H
#define LS_SYSTEM_CALL_H

#include <stdint.h>

/* "epoll_wait"; NULL: one that the headers luaspy was built with do not know. */
const char *system_call__name(int64_t number);

#endif
