/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/program_puc.h"

#include "walk_puc.skel.h"
#include "walk_puc_old.skel.h"

const void *program_puc__file(bool is_old, size_t *size)
{
	return is_old ? walk_puc_old_bpf__elf_bytes(size) : walk_puc_bpf__elf_bytes(size);
}
