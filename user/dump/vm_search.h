/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds VMs that no stack leads to, in the memory of a process. */
#ifndef LS_VM_SEARCH_H
#define LS_VM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/family.h"
#include "target.h"

#define VM_SEARCH_MAX 64

struct vm_found {
	uint64_t main_thread;
	struct layout layout; /* without a family: it is not known */
};

struct vm_search {
	struct vm_found items[VM_SEARCH_MAX]; /* in order of address */
	size_t count;
	bool is_cut_short; /* too many VMs, or too much memory to search */
};

/*
 * Searches the private, writable memory of the process for VMs of these layouts, without touching
 * pages that are not present. 0, even if none is found, or -errno.
 */
int vm_search__find(pid_t pid, const struct ls_candidates candidates[LS_FAMILY_COUNT],
		    struct vm_search *search);

#endif
