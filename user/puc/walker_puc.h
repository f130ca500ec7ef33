/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walker of bpf/ in user space: the same source, reading with process_vm_readv(). */
#ifndef LS_WALKER_PUC_H
#define LS_WALKER_PUC_H

#include "interpreter/walker.h"

extern const struct walker_ops walker_ops_puc;

#endif
