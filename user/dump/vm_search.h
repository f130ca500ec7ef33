/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds VMs of PUC Lua that no stack leads to, by the looks of their main threads: lua_newstate
 * (lstate.c) allocates a main thread and its global_State as one block, and each points to the
 * other.
 */
#ifndef LS_VM_SEARCH_H
#define LS_VM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VM_SEARCH_MAX 64

struct vm_found {
	uint64_t main_thread;
	uint8_t layout; /* index into layouts_puc[] */
};

struct vm_search {
	struct vm_found items[VM_SEARCH_MAX]; /* in order of address */
	size_t count;
	bool is_cut_short; /* too many, or too much memory to look through */
};

/*
 * Looks through the writable memory of the process, without touching pages that are not there, for
 * VMs of these layouts (bits). What fits two layouts is left out. 0, also with none, or -errno.
 */
int vm_search__find(pid_t pid, uint16_t layouts, struct vm_search *search);

#endif
