/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/program_luau.h"

#include "walk_luau.skel.h"
#include "walk_luau_old.skel.h"

const void *program_luau__file(bool is_old, size_t *size)
{
	return is_old ? walk_luau_old_bpf__elf_bytes(size) : walk_luau_bpf__elf_bytes(size);
}
