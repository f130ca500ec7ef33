/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_DUMP_COROUTINES_H
#define LS_DUMP_COROUTINES_H

#include "dump/dump.h"

/* Reads the suspended coroutines of all VMs that can be found. 0 or -ENOMEM. */
int dump_coroutines__read(struct dump *dump);

#endif
