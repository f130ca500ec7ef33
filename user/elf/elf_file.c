/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file belongs to the target, which may have written anything into it and may truncate it under
 * our feet. So it is read, not mapped (access to a truncated mapping raises SIGBUS), and no size in
 * it makes us allocate more than the size of the file or the limits below, which count sparse
 * bytes, too.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_file_internal.h"
#include "elf/file_bytes.h"

#define DATA_LIMIT     (256ull << 20) /* of read-only data: more than any file with Lua has */
#define WRITABLE_LIMIT (1ull << 20)   /* of writable data */
#define FOUND_LIMIT    (64ull << 20)  /* of it in a file that contains Lua, which is read whole */
#define SECTION_LIMIT  (1u << 16)     /* libelf allocates for each before it reads any */
#define DYNAMIC_LIMIT  4096

/* Checks what libelf does not check, or only after it has allocated. */
static int check_header(int fd, uint16_t machine)
{
	Elf64_Ehdr header;
	Elf64_Shdr first;
	ssize_t count = pread(fd, &header, sizeof(header), 0);

	if (count < 0)
		return -errno;
	if (count < EI_NIDENT || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if ((size_t)count < sizeof(header))
		return -ENOEXEC;
	if (header.e_machine != machine)
		return -ENOTSUP;
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return -ENOEXEC;
	if (header.e_shoff == 0 || header.e_shnum != 0)
		return 0;
	/* The first section header then holds the number of sections. */
	if (header.e_shoff > INT64_MAX ||
	    pread(fd, &first, sizeof(first), (off_t)header.e_shoff) != sizeof(first))
		return 0;
	return first.sh_size > SECTION_LIMIT ? -ENOEXEC : 0;
}

static int add_region(struct elf_file *file, uint64_t offset, uint64_t size, uint64_t *left)
{
	struct region *regions;

	if (offset >= file->size)
		return 0;
	if (size > file->size - offset)
		size = file->size - offset; /* use what a truncated file still has */
	if (size == 0)
		return 0;
	if (size > *left)
		return file->size > DATA_LIMIT ? -EFBIG : 0;
	regions = reallocarray(file->regions, file->region_count + 1, sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	regions[file->region_count++] = (struct region){.offset = offset, .size = size};
	file->regions = regions;
	*left -= size;
	return 0;
}

/* Honest regions do not overlap: together they are never larger than the file. */
static uint64_t region_budget(const struct elf_file *file)
{
	return file->size < DATA_LIMIT ? file->size : DATA_LIMIT;
}

static int add_sections(struct elf_file *file, bool are_writable, uint64_t left)
{
	const uint64_t wanted = SHF_ALLOC | (are_writable ? SHF_WRITE : 0);
	Elf_Scn *section = NULL;
	int error = 0;

	while (!error && (section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS &&
		    (header.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) == wanted)
			error = add_region(file, header.sh_offset, header.sh_size, &left);
	}
	return error;
}

/* Without section headers: executable segments, too, because some linkers put .rodata into them. */
static int add_segments(struct elf_file *file, bool are_writable, uint64_t left)
{
	const uint32_t wanted = PF_R | (are_writable ? PF_W : 0);
	size_t count = 0;
	int error = 0;

	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; !error && i < count; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    (header.p_flags & (PF_R | PF_W)) == wanted)
			error = add_region(file, header.p_offset, header.p_filesz, &left);
	}
	return error;
}

static uint64_t size_of_regions(const struct elf_file *file)
{
	uint64_t size = 0;

	for (size_t i = 0; i < file->region_count; i++)
		size += file->regions[i].size;
	return size;
}

/*
 * Some compilers (tcc) put string literals into writable data. It is searched last, without what
 * does not fit into WRITABLE_LIMIT: other compilers put tens of megabytes there, and no literal.
 */
static int add_regions(struct elf_file *file)
{
	int (*const add)(struct elf_file * file, bool are_writable, uint64_t left) =
		elf_nextscn(file->elf, NULL) ? add_sections : add_segments;
	int error = add(file, false, region_budget(file));

	if (error || size_of_regions(file) > FOUND_LIMIT - WRITABLE_LIMIT)
		return error;
	error = add(file, true, WRITABLE_LIMIT);
	return error == -EFBIG ? 0 : error;
}

static void find_symbol_table(struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	file->stripped = true;
	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			file->stripped = false;
}

static bool is_pie(const struct elf_file *file, const GElf_Phdr *dynamic)
{
	for (uint64_t i = 0; i < DYNAMIC_LIMIT && i < dynamic->p_filesz / sizeof(Elf64_Dyn); i++) {
		uint64_t offset = dynamic->p_offset + i * sizeof(Elf64_Dyn);
		Elf64_Dyn entry;

		if (offset < dynamic->p_offset || offset > file->size ||
		    pread(file->fd, &entry, sizeof(entry), (off_t)offset) != sizeof(entry) ||
		    entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == DT_FLAGS_1)
			return entry.d_un.d_val & DF_1_PIE;
	}
	return false;
}

static bool find_shared_library(const struct elf_file *file)
{
	bool has_interpreter = false, pie = false;
	GElf_Ehdr header;
	size_t count = 0;

	if (!gelf_getehdr(file->elf, &header) || header.e_type != ET_DYN)
		return false;
	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(file->elf, (int)i, &segment))
			continue;
		if (segment.p_type == PT_INTERP)
			has_interpreter = true;
		if (segment.p_type == PT_DYNAMIC && !pie)
			pie = is_pie(file, &segment);
	}
	return !has_interpreter && !pie;
}

static int open_for(int found, uint16_t machine, struct elf_file **opened)
{
	struct elf_file *file = calloc(1, sizeof(*file));
	int error;

	*opened = NULL;
	if (!file)
		return -ENOMEM;
	file->fd = file_bytes__open(found, &file->size);
	error = file->fd < 0 ? file->fd : check_header(file->fd, machine);
	if (error)
		goto cleanup;
	error = -ENOEXEC;
	if (elf_version(EV_CURRENT) == EV_NONE)
		goto cleanup;
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		goto cleanup;
	error = add_regions(file);
	if (error)
		goto cleanup;
	find_symbol_table(file);
	file->shared_library = find_shared_library(file);
	*opened = file;
	return 0;
cleanup:
	elf_file__close(file);
	return error;
}

int elf_file__open_for(const char *path, uint16_t machine, struct elf_file **opened)
{
	int found = open(path, O_PATH | O_CLOEXEC), error;

	*opened = NULL;
	if (found < 0)
		return -errno;
	error = open_for(found, machine, opened);
	close(found);
	return error;
}

int elf_file__open(const char *path, struct elf_file **opened)
{
	return elf_file__open_for(path, ELF_FILE_MACHINE, opened);
}

int elf_file__open_again(int found, struct elf_file **opened)
{
	return open_for(found, ELF_FILE_MACHINE, opened);
}

void elf_file__close(struct elf_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->region_count; i++)
		free(file->regions[i].bytes);
	free(file->regions);
	elf_symbols__free(file);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

bool elf_file__is_stripped(const struct elf_file *file)
{
	return file->stripped;
}

uint64_t elf_file__bytes(const struct elf_file *file)
{
	return file->bytes;
}

bool elf_file__is_searchable(const struct elf_file *file)
{
	return size_of_regions(file) <= FOUND_LIMIT;
}

bool elf_file__is_shared_library(const struct elf_file *file)
{
	return file->shared_library;
}

bool elf_file__holds(const struct elf_file *file, const char *needle)
{
	bool found = false;

	for (size_t i = 0; !found && i < file->region_count; i++)
		found = file_bytes__hold(file->fd, file->regions[i].offset, file->regions[i].size,
					 needle);
	return found;
}

const char *elf_file__find(const struct elf_file *file, const char *needle, size_t *room)
{
	size_t length = strlen(needle);

	for (size_t i = 0; i < file->region_count; i++) {
		struct region *region = &file->regions[i];
		const char *found;

		if (!region->bytes)
			region->bytes = file_bytes__read(file->fd, region->offset, &region->size);
		if (!region->bytes)
			continue;
		found = memmem(region->bytes, region->size, needle, length);
		if (found) {
			*room = region->size - (size_t)(found - region->bytes);
			return found;
		}
	}
	return NULL;
}

uint64_t elf_file__address_of_offset(const struct elf_file *file, uint64_t offset)
{
	size_t count = 0;

	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    offset >= header.p_offset && offset - header.p_offset < header.p_filesz)
			return header.p_vaddr + (offset - header.p_offset);
	}
	return UINT64_MAX;
}

uint16_t elf_file__machine(const struct elf_file *file)
{
	GElf_Ehdr header;

	return gelf_getehdr(file->elf, &header) ? header.e_machine : EM_NONE;
}

bool elf_file__segment(const struct elf_file *file, size_t index, struct elf_segment *segment)
{
	GElf_Phdr header;
	size_t count = 0;

	elf_getphdrnum(file->elf, &count);
	if (index >= count || !gelf_getphdr(file->elf, (int)index, &header))
		return false;
	*segment = (struct elf_segment){header.p_type, header.p_flags, header.p_vaddr,
					header.p_offset, header.p_filesz};
	return true;
}

bool elf_file__section(const struct elf_file *file, const char *name, uint64_t *address,
		       uint64_t *size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return false;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *its = gelf_getshdr(section, &header)
					  ? elf_strptr(file->elf, names, header.sh_name)
					  : NULL;

		if (!its || strcmp(its, name) || header.sh_type == SHT_NOBITS)
			continue;
		*address = header.sh_addr;
		*size = header.sh_size;
		return true;
	}
	return false;
}

/* How many bytes the segment has from `address` on, and their file offset. 0: no segment. */
static uint64_t locate(const struct elf_file *file, uint64_t address, uint64_t *offset)
{
	struct elf_segment segment;

	for (size_t i = 0; elf_file__segment(file, i, &segment); i++) {
		uint64_t distance = address - segment.address;

		if (segment.type != PT_LOAD || address < segment.address ||
		    distance >= segment.size || segment.offset > INT64_MAX - segment.size)
			continue;
		*offset = segment.offset + distance;
		return segment.size - distance;
	}
	return 0;
}

uint64_t elf_file__bytes_at(const struct elf_file *file, uint64_t address)
{
	uint64_t offset, size = locate(file, address, &offset);

	if (!size || offset >= file->size)
		return 0;
	return size < file->size - offset ? size : file->size - offset;
}

ssize_t elf_file__read(const struct elf_file *file, uint64_t address, void *to, size_t size)
{
	uint64_t offset, there = locate(file, address, &offset);
	size_t done = 0;

	if (size > there)
		size = there;
	while (done < size) {
		ssize_t count =
			pread(file->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (count < 0)
			return -errno;
		if (!count)
			break;
		done += (size_t)count;
	}
	return (ssize_t)done;
}
