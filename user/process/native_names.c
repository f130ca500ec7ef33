/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/native_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "elf/symbol_name.h"
#include "process/process.h"
#include "process/time_budget.h"
#include "system/processor_speed.h"

/* Mappings whose files are opened in advance. A process may have thousands; the rest wait. */
#define PREPARED_MAX 256

struct native_names {
	pid_t pid;
	struct process_mappings mappings;
	struct time_budget budget; /* for reading the mappings again */
	struct elf_files *files;   /* borrowed */
	char *name, *symbol;
};

struct native_names *native_names__new(pid_t pid, struct elf_files *files)
{
	struct native_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->pid = pid;
	names->files = files;
	return names;
}

void native_names__free(struct native_names *names)
{
	if (!names)
		return;
	process__mappings_free(&names->mappings);
	free(names->name);
	free(names->symbol);
	free(names);
}

static const struct process_mapping *find_mapping(const struct native_names *names,
						  uint64_t address)
{
	for (size_t i = 0; i < names->mappings.count; i++) {
		const struct process_mapping *mapping = &names->mappings.items[i];

		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

/*
 * 0, or -errno with the former mappings kept: a process that has ended has none any more, and the
 * former ones still locate its code.
 */
static int read_mappings(struct native_names *names)
{
	struct process_mappings fresh = {};
	int error = process__mappings(names->pid, &fresh);

	if (!error && !fresh.count)
		error = -ESRCH;
	if (error) {
		process__mappings_free(&fresh);
		return error;
	}
	process__mappings_free(&names->mappings);
	names->mappings = fresh;
	return 0;
}

/*
 * Libraries may be loaded late, so an address that no mapping covers makes luaspy read the mappings
 * again. The budget bounds this: a target may have thousands of such addresses, and of mappings.
 */
static const struct process_mapping *mapping_at(struct native_names *names, uint64_t address)
{
	const struct process_mapping *mapping = find_mapping(names, address);
	uint64_t grant_ns = processor_speed__scale(TIME_BUDGET_PROCESS_NS), begin_ns;
	int error;

	if (mapping || !time_budget__allows(&names->budget, grant_ns, 1))
		return mapping;
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	error = read_mappings(names);
	time_budget__spend(&names->budget, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
	return error ? NULL : find_mapping(names, address);
}

void native_names__prepare(struct native_names *names)
{
	if (read_mappings(names))
		return;
	for (size_t i = 0; i < names->mappings.count && i < PREPARED_MAX; i++)
		if (names->mappings.items[i].executable)
			elf_files__mapped(names->files, names->pid, &names->mappings.items[i]);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * The file that is mapped at `address`, and the position in it: its virtual address in an ELF file,
 * else the file offset, or `address` itself if no file is mapped there.
 */
static struct elf_file *locate(struct native_names *names, uint64_t address,
			       const struct process_mapping **mapping, uint64_t *place)
{
	struct elf_file *file;
	uint64_t in_file;

	*mapping = mapping_at(names, address);
	*place = address;
	if (!*mapping)
		return NULL;
	file = elf_files__mapped(names->files, names->pid, *mapping);
	*place = address - (*mapping)->start + (*mapping)->offset;
	in_file = file ? elf_file__address_of_offset(file, *place) : UINT64_MAX;
	if (in_file != UINT64_MAX)
		*place = in_file;
	return file;
}

bool native_names__place(struct native_names *names, uint64_t address, uint64_t *file,
			 uint64_t *place)
{
	const struct process_mapping *mapping;

	locate(names, address, &mapping, place);
	if (mapping)
		*file = elf_files__identity(names->files, names->pid, mapping);
	return mapping;
}

const char *native_names__file(struct native_names *names, uint64_t address)
{
	const struct process_mapping *mapping = mapping_at(names, address);

	return mapping ? base_name(mapping->path) : NULL;
}

const char *native_names__symbol(struct native_names *names, uint64_t address)
{
	const struct process_mapping *mapping;
	uint64_t place;
	struct elf_file *file = locate(names, address, &mapping, &place);
	const char *symbol = file ? elf_file__function_at(file, place) : NULL;

	if (!symbol)
		return NULL;
	free(names->symbol);
	names->symbol = symbol_name__demangle(symbol);
	return names->symbol ? names->symbol : symbol;
}

const char *native_names__name(struct native_names *names, uint64_t address)
{
	const char *symbol = native_names__symbol(names, address);
	const struct process_mapping *mapping;
	uint64_t place;
	int length;

	free(names->name);
	names->name = NULL;
	locate(names, address, &mapping, &place);
	if (symbol)
		length = asprintf(&names->name, "%s", symbol);
	else if (mapping)
		length = asprintf(&names->name, "%s+0x%" PRIx64, base_name(mapping->path), place);
	else
		length = asprintf(&names->name, "0x%" PRIx64, address);
	if (length < 0)
		names->name = NULL;
	return names->name;
}
