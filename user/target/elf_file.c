/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file belongs to the target, which may have written anything into it and may truncate it under
 * our feet. So it is read, not mapped (a truncated mapping is a SIGBUS), and no size in it makes us
 * allocate more than the file has bytes, or LIMIT.
 */
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_bytes.h"

#define LIMIT         (1ull << 30)
#define SECTION_LIMIT (1u << 16) /* libelf allocates for each before it looks at any */
#define SYMBOL_LIMIT  (1u << 21) /* Chromium has about a million */
#define DYNAMIC_LIMIT 4096
#define NAME_LIMIT    4095 /* more than anyone reads of one */
#define COMPARE_LIMIT 256  /* millions of long aliases must not take forever to sort */
#define OVERLAP_LIMIT 32   /* how many symbols may begin inside another one */

struct region {
	uint64_t offset, size;
	char *bytes; /* NULL until it is first searched */
};

struct symbol {
	uint64_t start, end;
	uint64_t limit; /* of a symbol without a size (end == start): the end of its section */
	const char *name;
	char *copy; /* where it is not a whole string of the file: made when it is asked for */
	uint32_t length;
	bool is_weak, is_local;
	uint8_t underscores;
};

struct elf_file {
	int fd;
	uint64_t size;
	Elf *elf;
	bool stripped, shared_library;
	struct region *regions; /* read-only data */
	size_t region_count;
	struct symbol *symbols; /* by address, one for each */
	size_t symbol_count;
	bool symbols_read;
};

/* A device has side effects when it is opened and a FIFO blocks: look before opening. */
static int open_regular(int found, uint64_t *size)
{
	char itself[32];
	struct stat status;
	int fd;

	if (fstat(found, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", found);
	fd = open(itself, O_RDONLY | O_CLOEXEC);
	*size = (uint64_t)status.st_size;
	return fd < 0 ? -errno : fd;
}

/* What libelf does not look at, or not before it allocates. */
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
	/* The number of sections is then in the first of them. */
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
		size = file->size - offset; /* of a truncated file, what there is */
	if (size == 0 || size > *left)
		return 0;
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
	return file->size < LIMIT ? file->size : LIMIT;
}

static int add_sections(struct elf_file *file)
{
	uint64_t left = region_budget(file);
	Elf_Scn *section = NULL;
	int error = 0;

	file->stripped = true;
	while (!error && (section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			file->stripped = false;
		if (header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_ALLOC) &&
		    !(header.sh_flags & (SHF_WRITE | SHF_EXECINSTR)))
			error = add_region(file, header.sh_offset, header.sh_size, &left);
	}
	return error;
}

/* Without section headers: executable segments too, for some linkers put .rodata into them. */
static int add_segments(struct elf_file *file)
{
	uint64_t left = region_budget(file);
	size_t count = 0;
	int error = 0;

	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; !error && i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if ((header.p_flags & (PF_R | PF_W)) == PF_R)
			error = add_region(file, header.p_offset, header.p_filesz, &left);
	}
	return error;
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
	file->fd = open_regular(found, &file->size);
	error = file->fd < 0 ? file->fd : check_header(file->fd, machine);
	if (error)
		goto cleanup;
	error = -ENOEXEC;
	if (elf_version(EV_CURRENT) == EV_NONE)
		goto cleanup;
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		goto cleanup;
	error = add_sections(file);
	if (!error && !elf_nextscn(file->elf, NULL))
		error = add_segments(file);
	if (error)
		goto cleanup;
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
	for (size_t i = 0; i < file->symbol_count; i++)
		free(file->symbols[i].copy);
	free(file->symbols);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

bool elf_file__is_stripped(const struct elf_file *file)
{
	return file->stripped;
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

/*
 * Of aliases the one that a programmer would have written: exported, without the underscores of an
 * implementation, short; and the same one every time.
 */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? 1 : -1;
	if (a->is_weak != b->is_weak)
		return a->is_weak ? 1 : -1;
	if (a->underscores != b->underscores)
		return a->underscores < b->underscores ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return strncmp(a->name, b->name, a->length < COMPARE_LIMIT ? a->length : COMPARE_LIMIT);
}

/* The end of the section that a symbol is in; UINT64_MAX: unknown. */
static uint64_t section_end(const struct elf_file *file, size_t index)
{
	Elf_Scn *section = index < SHN_LORESERVE ? elf_getscn(file->elf, index) : NULL;
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) ||
	    header.sh_addr + header.sh_size < header.sh_addr)
		return UINT64_MAX;
	return header.sh_addr + header.sh_size;
}

/* Whether it is a function. */
static bool read_symbol(const struct elf_file *file, const GElf_Sym *from, const Elf_Data *strings,
			struct symbol *to)
{
	int type = GELF_ST_TYPE(from->st_info), binding = GELF_ST_BIND(from->st_info);
	const char *at;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || from->st_shndx == SHN_UNDEF ||
	    from->st_name >= strings->d_size)
		return false;
	*to = (struct symbol){
		.start = from->st_value,
		.name = (const char *)strings->d_buf + from->st_name,
		.is_weak = binding == STB_WEAK,
		.is_local = binding == STB_LOCAL,
	};
	to->length = (uint32_t)strnlen(to->name, NAME_LIMIT);
	/* "memcpy@@GLIBC_2.14": the linker's way to write a version into .symtab */
	at = memchr(to->name, '@', to->length);
	if (at)
		to->length = (uint32_t)(at - to->name);
	if (to->length == 0)
		return false;
	while (to->underscores < 8 && to->name[to->underscores] == '_')
		to->underscores++;
	to->end = from->st_value + from->st_size;
	if (to->end < to->start)
		return false;
	if (!from->st_size)
		to->limit = section_end(file, from->st_shndx);
	return true;
}

/* NULL where there is none, or its size is a lie. */
static Elf_Data *section_data(const struct elf_file *file, Elf_Scn *section)
{
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    header.sh_size > file->size || header.sh_size > LIMIT)
		return NULL;
	return elf_getdata(section, NULL);
}

static int read_symbol_table(struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *entries = section_data(file, section);
	Elf_Data *strings = section_data(file, elf_getscn(file->elf, header->sh_link));
	size_t count;
	struct symbol *symbols;

	/* The last NUL is what makes every name in it a string. */
	if (!entries || !entries->d_buf || !strings || !strings->d_buf || !strings->d_size ||
	    ((const char *)strings->d_buf)[strings->d_size - 1] != '\0')
		return 0;
	count = entries->d_size / sizeof(Elf64_Sym);
	if (count > SYMBOL_LIMIT)
		count = SYMBOL_LIMIT;
	symbols = reallocarray(file->symbols, file->symbol_count + count + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	file->symbols = symbols;
	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(entries, (int)i, &symbol) &&
		    read_symbol(file, &symbol, strings, &symbols[file->symbol_count]))
			file->symbol_count++;
	}
	return 0;
}

/* Aliases shrink to the first of them, which covers what the longest does. */
static void merge_symbols(struct elf_file *file)
{
	struct symbol *symbols = file->symbols;
	size_t kept = 0;

	for (size_t i = 0; i < file->symbol_count; i++) {
		struct symbol *last = kept ? &symbols[kept - 1] : NULL;

		if (last && last->start == symbols[i].start) {
			if (symbols[i].end > last->end)
				last->end = symbols[i].end;
			continue;
		}
		if (last && last->end == last->start)
			last->end = last->limit < symbols[i].start ? last->limit : symbols[i].start;
		symbols[kept++] = symbols[i];
	}
	if (kept && symbols[kept - 1].end == symbols[kept - 1].start)
		symbols[kept - 1].end = symbols[kept - 1].limit;
	file->symbol_count = kept;
}

/* What cannot be read is as good as not there: the caller then shows an offset. */
static void read_symbols(struct elf_file *file)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(types) / sizeof(types[0]); i++) {
		Elf_Scn *section = NULL;
		GElf_Shdr header;

		while ((section = elf_nextscn(file->elf, section)))
			if (gelf_getshdr(section, &header) && header.sh_type == types[i])
				break;
		if (section)
			error = read_symbol_table(file, section, &header);
	}
	if (file->symbol_count)
		qsort(file->symbols, file->symbol_count, sizeof(*file->symbols), compare_symbols);
	merge_symbols(file);
}

static const char *plain_name(struct symbol *symbol)
{
	if (symbol->name[symbol->length] == '\0')
		return symbol->name;
	if (!symbol->copy)
		symbol->copy = strndup(symbol->name, symbol->length);
	return symbol->copy;
}

const char *elf_file__function_at(struct elf_file *file, uint64_t address)
{
	size_t low = 0, high;

	if (!file->symbols_read)
		read_symbols(file);
	file->symbols_read = true;
	for (high = file->symbol_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (file->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < OVERLAP_LIMIT && low > 0; i++)
		if (file->symbols[--low].end > address)
			return plain_name(&file->symbols[low]);
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

/* How many bytes the file has from there on, and where. */
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
