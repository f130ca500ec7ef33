/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vm_search.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout_puc.h"
#include "target_memory.h"

#define RUN_PAGES    256          /* read at once */
#define OVERLAP      256          /* bytes: a lua_State may lie in two runs */
#define PAGE_PRESENT (1ULL << 63) /* /proc/PID/pagemap */
#define BYTES_MAX    (1ULL << 30) /* a second or less */
#define TAG_AT       8            /* GCObject.tt */
#define TAG_THREAD   8            /* LUA_TTHREAD, lua.h */
#define TAG_TABLE    5            /* LUA_TTABLE */
#define TYPE_MASK    15

struct looking {
	struct target_memory memory;
	uint16_t layouts;
	int pagemap;
	uint64_t page_bytes;
	uint64_t left; /* bytes that may still be read */
	uint8_t *bytes;
	struct vm_search *search;
};

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Where the global_State of a main thread at `address` must lie. */
static uint64_t global_of(const struct ls_puc_layout *layout, uint64_t address)
{
	return layout->main_thread_is_embedded ? address - layout->global_main_thread
					       : address + layout->state_size;
}

/* The other half: it points back, and has a registry. */
static int is_global(const struct looking *looking, const struct ls_puc_layout *layout,
		     uint64_t global, uint64_t main_thread)
{
	uint64_t back, registry[2], head[2];

	if (!layout->main_thread_is_embedded &&
	    (target_memory__read(&looking->memory, global + layout->global_main_thread, &back,
				 sizeof(back)) ||
	     back != main_thread))
		return 0;
	return !target_memory__read(&looking->memory, global + layout->global_registry, registry,
				    sizeof(registry)) &&
	       (registry[1] & TYPE_MASK) == TAG_TABLE &&
	       !target_memory__read(&looking->memory, registry[0], head, sizeof(head)) &&
	       (head[1] & 0xff) == TAG_TABLE;
}

static void add(struct vm_search *search, uint64_t address, uint32_t layout)
{
	if (search->count == VM_SEARCH_MAX)
		search->is_cut_short = true;
	else
		search->items[search->count++] =
			(struct vm_found){.main_thread = address, .layout = (uint8_t)layout};
}

static void look_at(struct looking *looking, const uint8_t *bytes, uint64_t address)
{
	int count = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; i < layouts_puc_count; i++) {
		const struct ls_puc_layout *layout = &layouts_puc[i].offsets;
		uint64_t global = global_of(layout, address);

		if (!(looking->layouts >> i & 1) || bytes[layout->state_status] ||
		    word_at(bytes, layout->state_global) != global ||
		    !is_global(looking, layout, global, address))
			continue;
		found = i;
		count++;
	}
	if (count == 1)
		add(looking->search, address, found);
}

/* What begins in [start, start + size); `overlap` bytes behind that are there. */
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
	for (uint64_t at = 0; at < size && at < (uint64_t)count; at += 8)
		if (looking->bytes[at + TAG_AT] == TAG_THREAD)
			look_at(looking, looking->bytes + at, start + at);
}

/* The pages of [start, start + count) that are there; of one more it is only asked whether it is.
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

/* A page that is not there is not touched, so that the process is none the larger. */
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

int vm_search__find(pid_t pid, uint16_t layouts, struct vm_search *search)
{
	struct looking looking = {.memory = {.pid = pid},
				  .layouts = layouts,
				  .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
				  .left = BYTES_MAX,
				  .search = search};
	char path[32];
	int error = -ENOMEM;

	*search = (struct vm_search){};
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
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
