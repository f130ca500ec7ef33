/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "native_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "time_budget.h"

/* Of a process with thousands of mappings, the rest is looked at when it is asked for. */
#define PREPARED_MAX 256

struct native_names {
	pid_t pid;
	struct process_mappings mappings;
	struct time_budget budget; /* for reading them again */
	struct elf_files *files;   /* borrowed */
	char *name;
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
 * Libraries are loaded late: an address that is not covered is looked for again. A target may have
 * thousands of those, and of mappings.
 */
static const struct process_mapping *mapping_at(struct native_names *names, uint64_t address)
{
	const struct process_mapping *mapping = find_mapping(names, address);
	struct process_mappings fresh = {};
	int error;

	if (mapping || !time_budget__begin(&names->budget))
		return mapping;
	error = process__mappings(names->pid, &fresh);
	time_budget__end(&names->budget);
	if (error) {
		process__mappings_free(&fresh);
		return NULL;
	}
	process__mappings_free(&names->mappings);
	names->mappings = fresh;
	return find_mapping(names, address);
}

void native_names__prepare(struct native_names *names)
{
	struct process_mappings fresh = {};

	if (process__mappings(names->pid, &fresh)) {
		process__mappings_free(&fresh);
		return;
	}
	process__mappings_free(&names->mappings);
	names->mappings = fresh;
	for (size_t i = 0; i < fresh.count && i < PREPARED_MAX; i++)
		if (fresh.items[i].executable)
			elf_files__mapped(names->files, names->pid, &fresh.items[i]);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The file that is mapped there, and the place in it: its own address where it is an ELF file. */
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

const char *native_names__symbol(struct native_names *names, uint64_t address)
{
	const struct process_mapping *mapping;
	uint64_t place;
	struct elf_file *file = locate(names, address, &mapping, &place);

	return file ? elf_file__function_at(file, place) : NULL;
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
