/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit32/narrow.h"

#include "luajit/program_luajit.h"

#include "walk_luajit32.skel.h"
#include "walk_luajit32_old.skel.h"

const void *program_luajit__file(bool is_old, size_t *size)
{
	return is_old ? walk_luajit32_old_bpf__elf_bytes(size) : walk_luajit32_bpf__elf_bytes(size);
}
