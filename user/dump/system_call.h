/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of this machine's system calls. */
#ifndef LS_SYSTEM_CALL_H
#define LS_SYSTEM_CALL_H

#include <stdint.h>

/* Such as "epoll_wait"; NULL: unknown to the headers that luaspy was built with. */
const char *system_call__name(int64_t number);

#endif
