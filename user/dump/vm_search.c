/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/vm_search.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/target_memory.h"
#include "process/process.h"

#define RUN_PAGES    256               /* read by one call */
#define OVERLAP      MAIN_THREAD_BYTES /* a main thread may extend over two runs */
#define PAGE_PRESENT (1ULL << 63)      /* /proc/PID/pagemap */
#define BYTES_MAX    (1ULL << 30)      /* searched in a second or less */

struct looking {
	struct target_memory memory;
	const struct ls_candidates *candidates; /* by family */
	int pagemap;
	uint64_t page_bytes;
	uint64_t left; /* bytes that may still be read */
	uint8_t *bytes;
	struct vm_search *search;
};

static void add(struct vm_search *search, uint64_t address, const struct layout *layout)
{
	if (search->count == VM_SEARCH_MAX)
		search->is_cut_short = true;
	else
		search->items[search->count++] =
			(struct vm_found){.main_thread = address, .layout = *layout};
}

/* Looks for VMs of one family among `size` bytes that were read from `start`. */
static void look_for(struct looking *looking, const struct family *family, uint64_t start,
		     uint64_t size)
{
	uint16_t layouts = looking->candidates[family->id].layouts;
	struct layout layout;
	uint64_t at = 0;
	uint32_t slot;

	while (layouts && family->walker &&
	       family->walker->find_main_thread(&looking->memory, layouts, looking->bytes, size,
						start, &at, &slot)) {
		if (!layout__get(family->id, slot, &layout))
			layout = (struct layout){};
		add(looking->search, start + at, &layout);
		at += 8;
	}
}

/* Searches for what begins in [start, start + size); `overlap` bytes after that are present. */
static void look_through(struct looking *looking, uint64_t start, uint64_t size, uint64_t overlap)
{
	ssize_t count;

	if (looking->left < size) {
		looking->search->is_cut_short = true;
		return;
	}
	looking->left -= size;
	count = target_memory__read_some(&looking->memory, start, looking->bytes, size + overlap);
	if (count <= 0)
		return;
	memset(looking->bytes + count, 0, OVERLAP);
	if (size > (uint64_t)count)
		size = (uint64_t)count;
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		look_for(looking, families__get(id), start, size);
}

/*
 * Searches the present pages among `count` from `start`; pages[count] only says whether the next
 * one is present.
 */
static void look_through_pages(struct looking *looking, uint64_t start, const uint64_t *pages,
			       uint64_t count)
{
	uint64_t page_bytes = looking->page_bytes, first = 0;

	for (uint64_t i = 0; i <= count; i++) {
		if (i < count && pages[i] & PAGE_PRESENT)
			continue;
		if (i > first)
			look_through(looking, start + first * page_bytes, (i - first) * page_bytes,
				     i == count && pages[i] & PAGE_PRESENT ? OVERLAP : 0);
		first = i + 1;
	}
}

/* Absent pages are not touched, so that the process does not grow. */
static void look_through_mapping(struct looking *looking, uint64_t start, uint64_t end)
{
	uint64_t run_bytes = RUN_PAGES * looking->page_bytes, pages[RUN_PAGES + 1];

	for (uint64_t at = start; at < end && !looking->search->is_cut_short; at += run_bytes) {
		uint64_t left = (end - at) / looking->page_bytes;
		uint64_t count = left < RUN_PAGES ? left : RUN_PAGES;
		size_t size = (left > RUN_PAGES ? count + 1 : count) * sizeof(pages[0]);

		pages[count] = 0;
		if (pread(looking->pagemap, pages, size,
			  (off_t)(at / looking->page_bytes * sizeof(pages[0]))) != (ssize_t)size)
			return;
		look_through_pages(looking, at, pages, count);
	}
}

static int look_through_process(struct looking *looking)
{
	char path[32], access[5], *line = NULL;
	uint64_t start, end;
	size_t room = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", looking->memory.pid);
	maps = fopen(path, "re");
	if (!maps)
		return -errno;
	/* Private and writable: where programs allocate. */
	while (getline(&line, &room, maps) > 0)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, access) == 3 &&
		    access[1] == 'w' && access[3] == 'p')
			look_through_mapping(looking, start, end);
	free(line);
	fclose(maps);
	return 0;
}

int vm_search__find(pid_t pid, const struct ls_candidates candidates[LS_FAMILY_COUNT],
		    struct vm_search *search)
{
	struct looking looking = {.memory = {.pid = process__memory_id(pid)},
				  .candidates = candidates,
				  .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
				  .left = BYTES_MAX,
				  .search = search};
	char path[32];
	int error = -ENOMEM;

	*search = (struct vm_search){};
	snprintf(path, sizeof(path), "/proc/%d/pagemap", looking.memory.pid);
	looking.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (looking.pagemap < 0)
		return -errno;
	looking.bytes = malloc(RUN_PAGES * looking.page_bytes + 2 * OVERLAP);
	if (looking.bytes)
		error = look_through_process(&looking);
	free(looking.bytes);
	close(looking.pagemap);
	return error;
}
