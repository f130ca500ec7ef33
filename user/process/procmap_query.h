/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PROCMAP_QUERY of linux/fs.h (Linux 6.11), which older headers lack: an ioctl(2) on /proc/PID/maps
 * that describes one mapping without formatting the others.
 */
#ifndef LS_PROCMAP_QUERY_H
#define LS_PROCMAP_QUERY_H

#include <linux/ioctl.h>
#include <stdint.h>

/* struct procmap_query */
struct ls_procmap_query {
	uint64_t size;  /* of this structure */
	uint64_t flags; /* 0: the mapping that covers `address` */
	uint64_t address;
	uint64_t start, end;
	uint64_t vma_flags; /* PROCMAP_QUERY_VMA_* */
	uint64_t page_size, offset, inode;
	uint32_t device_major, device_minor;
	uint32_t name_size, build_id_size; /* of the buffers; 0: not wanted */
	uint64_t name, build_id;           /* their addresses */
};

#define LS_PROCMAP_QUERY _IOWR('f', 17, struct ls_procmap_query)

#endif
