/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/function_arrays.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Limits of what is read. */
#define BYTES_MOST       (UINT64_C(64) << 20) /* of all segments together */
#define HEADERS_MOST     256                  /* of the program; a dozen is common */
#define SEGMENTS_MOST    64
#define DYNAMIC_MOST     256     /* entries of the dynamic section */
#define RELOCATIONS_MOST 2000000 /* 48 MB */
#define NAMES_MOST       50000   /* that are read as if they were a function's */
#define AT_ONCE          1024    /* relocations per read */

struct search {
	const struct elf_file *elf;
	struct elf_segment segments[SEGMENTS_MOST]; /* that are loaded */
	size_t segment_count;
	uint64_t low, high;                     /* all are in between */
	uint32_t no_data;                       /* flags of segments that hold no constants */
	uint64_t relocations, relocations_size; /* DT_RELA */
	uint64_t *words;                        /* of the present segment, as they are in memory */
	size_t word_count;
	uint64_t bytes_left; /* how many more may be searched */
	size_t names_left;   /* likewise, read */
	bool (*visit)(void *context, const struct function_array *array);
	void *context;
};

static void read_dynamic(struct search *search, const struct elf_segment *segment)
{
	Elf64_Dyn entries[DYNAMIC_MOST];
	ssize_t size =
		elf_file__read(search->elf, segment->address, entries,
			       segment->size < sizeof(entries) ? segment->size : sizeof(entries));

	for (ssize_t i = 0; i < size / (ssize_t)sizeof(entries[0]); i++) {
		if (entries[i].d_tag == DT_NULL)
			return;
		if (entries[i].d_tag == DT_RELA)
			search->relocations = entries[i].d_un.d_ptr;
		if (entries[i].d_tag == DT_RELASZ)
			search->relocations_size = entries[i].d_un.d_val;
	}
}

static void add_segment(struct search *search, const struct elf_segment *segment)
{
	uint64_t end = segment->address + segment->size;

	search->segments[search->segment_count++] = *segment;
	if (!(segment->flags & (PF_W | PF_X)))
		search->no_data |= PF_X;
	if (segment->address < search->low)
		search->low = segment->address;
	if (end > search->high)
		search->high = end;
}

static void read_segments(struct search *search)
{
	struct elf_segment segment;

	for (size_t i = 0; i < HEADERS_MOST && elf_file__segment(search->elf, i, &segment); i++) {
		if (segment.type == PT_DYNAMIC)
			read_dynamic(search, &segment);
		if (segment.type == PT_LOAD && search->segment_count < SEGMENTS_MOST)
			add_segment(search, &segment);
	}
}

static const struct elf_segment *segment_of(const struct search *search, uint64_t address)
{
	/* Most words that are asked for are no address at all. */
	if (address < search->low || address >= search->high)
		return NULL;
	for (size_t i = 0; i < search->segment_count; i++)
		if (address - search->segments[i].address < search->segments[i].size)
			return &search->segments[i];
	return NULL;
}

static bool is_constant(const struct search *search, uint64_t address)
{
	const struct elf_segment *segment = segment_of(search, address);

	return segment && !(segment->flags & (PF_W | search->no_data));
}

static bool is_code(const struct search *search, uint64_t address)
{
	const struct elf_segment *segment = segment_of(search, address);

	return segment && segment->flags & PF_X;
}

/* The type whose word is the addend, moved to where the file is loaded. */
static uint32_t relative_type(const struct elf_file *elf)
{
	return elf_file__machine(elf) == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
}

/* Puts the words that the program loader writes into the segment. */
static void relocate(struct search *search, const struct elf_segment *segment)
{
	Elf64_Rela entries[AT_ONCE];
	uint64_t count = search->relocations_size / sizeof(entries[0]);
	uint32_t relative = relative_type(search->elf);

	if (count > RELOCATIONS_MOST)
		count = RELOCATIONS_MOST;
	for (uint64_t done = 0; done < count;) {
		ssize_t size =
			elf_file__read(search->elf, search->relocations + done * sizeof(entries[0]),
				       entries, sizeof(entries));
		ssize_t read = size / (ssize_t)sizeof(entries[0]);

		if (read <= 0)
			return;
		for (ssize_t i = 0; i < read && done < count; i++, done++) {
			uint64_t place = (entries[i].r_offset - segment->address) / 8;

			if (ELF64_R_TYPE(entries[i].r_info) == relative &&
			    place < search->word_count)
				search->words[place] = (uint64_t)entries[i].r_addend;
		}
	}
}

/* Whether a name of a function is there. */
static bool read_name(struct search *search, uint64_t address, char name[FUNCTION_ARRAY_NAME_SIZE])
{
	ssize_t size;

	if (!is_constant(search, address) || !search->names_left)
		return false;
	search->names_left--;
	size = elf_file__read(search->elf, address, name, FUNCTION_ARRAY_NAME_SIZE);
	return size > 1 && name[0] && memchr(name, '\0', (size_t)size);
}

/* Reads the array that begins with word `at`. False: there is none. */
static bool read_array(struct search *search, size_t at, struct function_array *array)
{
	for (array->count = 0; at + 1 < search->word_count; at += 2) {
		uint64_t function = search->words[at + 1];

		if (!search->words[at])
			return array->count;
		/* NULL: a field that is set later, such as math.pi. */
		if ((function && !is_code(search, function)) ||
		    array->count == FUNCTION_ARRAY_MOST ||
		    !read_name(search, search->words[at], array->names[array->count]))
			return false;
		array->functions[array->count++] = function;
	}
	return false;
}

static void search_words(struct search *search)
{
	struct function_array array;

	for (size_t i = 0; i + 1 < search->word_count; i++) {
		if (is_constant(search, search->words[i]) &&
		    is_code(search, search->words[i + 1]) && read_array(search, i, &array) &&
		    search->visit(search->context, &array))
			i += 2 * array.count;
	}
}

static int search_segment(struct search *search, const struct elf_segment *segment)
{
	uint64_t size = segment->size < search->bytes_left ? segment->size : search->bytes_left;
	ssize_t read;

	search->bytes_left -= size;
	search->words = malloc(size + 8);
	if (!search->words)
		return -ENOMEM;
	read = elf_file__read(search->elf, segment->address, search->words, size);
	search->word_count = read > 0 ? (size_t)read / 8 : 0;
	if (segment->flags & PF_W)
		relocate(search, segment);
	search_words(search);
	free(search->words);
	return 0;
}

int function_arrays__visit(const struct elf_file *elf,
			   bool (*visit)(void *context, const struct function_array *array),
			   void *context)
{
	struct search search = {.elf = elf,
				.visit = visit,
				.context = context,
				.low = UINT64_MAX,
				.bytes_left = BYTES_MOST,
				.names_left = NAMES_MOST};
	int error = 0;

	read_segments(&search);
	for (size_t i = 0; !error && i < search.segment_count; i++)
		if (!(search.segments[i].flags & search.no_data))
			error = search_segment(&search, &search.segments[i]);
	return error;
}
