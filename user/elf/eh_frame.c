/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format is that of the Linux Standard Base, "Exception Frames", with DWARF's pointer
 * encodings: a CIE says how its FDEs encode addresses, and an FDE has the address and the size of a
 * function. The file may contain anything, so every step is checked against the bytes available.
 */
#include "elf/eh_frame.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_LIMIT (256u << 20)

/* DW_EH_PE_* */
#define ENCODED_ABSOLUTE 0x00
#define ENCODED_UDATA4   0x03
#define ENCODED_UDATA8   0x04
#define ENCODED_SDATA4   0x0b
#define ENCODED_SDATA8   0x0c
#define ENCODED_PCREL    0x10
#define ENCODED_OMIT     0xff

/*
 * All FDEs of a file may name the same CIE, which is interpreted for each of them. No compiler
 * exceeds these bounds on its content.
 */
#define LETTERS_MAX      16  /* of its augmentation string */
#define INSTRUCTIONS_MAX 256 /* bytes */
#define LEB_BITS_MAX     70  /* ten bytes hold any number */

struct table {
	uint8_t *bytes;
	size_t size;
	uint64_t address;
	bool has_frames; /* frame sizes are read, too */
	bool is_bounded; /* the tables' size is known: a terminator need not be the end */
	struct function_range *functions;
	size_t count, room;
};

struct cursor {
	const struct table *table;
	size_t at, end;
	bool is_broken;
};

static uint64_t take_number(struct cursor *cursor, size_t size)
{
	uint64_t number = 0;

	if (cursor->is_broken || size > cursor->end - cursor->at) {
		cursor->is_broken = true;
		return 0;
	}
	memcpy(&number, cursor->table->bytes + cursor->at, size);
	cursor->at += size;
	return number;
}

static uint64_t take_leb(struct cursor *cursor)
{
	uint64_t number = 0, byte;
	unsigned shift = 0;

	do {
		byte = take_number(cursor, 1);
		if (shift >= LEB_BITS_MAX)
			cursor->is_broken = true;
		else if (shift < 64)
			number |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !cursor->is_broken);
	return number;
}

/* Takes a pointer. A function's size is encoded like its address, but is not relative. */
static uint64_t take_pointer(struct cursor *cursor, uint8_t encoding, bool is_size)
{
	uint64_t base = cursor->table->address + cursor->at, number;

	switch (encoding & 0x0f) {
	case ENCODED_ABSOLUTE:
	case ENCODED_UDATA8:
	case ENCODED_SDATA8:
		number = take_number(cursor, 8);
		break;
	case ENCODED_UDATA4:
		number = take_number(cursor, 4);
		break;
	case ENCODED_SDATA4:
		number = take_number(cursor, 4);
		if (!is_size)
			number = (uint64_t)(int64_t)(int32_t)number;
		break;
	default:
		cursor->is_broken = true;
		return 0;
	}
	if (is_size || (encoding & 0x70) != ENCODED_PCREL)
		return number;
	return base + number;
}

/* What a CIE says about its FDEs. */
struct cie {
	size_t at;
	uint8_t encoding; /* of addresses; ENCODED_OMIT: not understood */
	bool has_augmentation;
	uint64_t unit;            /* code alignment factor */
	size_t instructions, end; /* initial instructions, before an FDE's own */
};

static uint8_t read_augmentation(struct cursor *cursor, const char *letters, size_t count)
{
	uint8_t encoding = ENCODED_ABSOLUTE;

	for (size_t i = 1; i < count && !cursor->is_broken; i++) {
		switch (letters[i]) {
		case 'R':
			encoding = take_number(cursor, 1);
			break;
		case 'P':
			take_pointer(cursor, take_number(cursor, 1), true);
			break;
		case 'L':
			take_number(cursor, 1);
			break;
		}
	}
	return encoding;
}

/* Fills *cie; its encoding is ENCODED_OMIT if it cannot be read. */
static void read_cie(const struct table *table, size_t at, struct cie *cie)
{
	struct cursor cursor = {.table = table, .at = at, .end = table->size};
	const char *letters;
	uint64_t length = take_number(&cursor, 4), size;
	size_t count;

	*cie = (struct cie){.at = at, .encoding = ENCODED_OMIT};
	if (cursor.is_broken || length > cursor.end - cursor.at || take_number(&cursor, 4) != 0)
		return;
	cursor.end = at + 4 + length;
	take_number(&cursor, 1); /* version */
	letters = (const char *)table->bytes + cursor.at;
	count = strnlen(letters, cursor.end - cursor.at < LETTERS_MAX ? cursor.end - cursor.at
								      : LETTERS_MAX);
	cursor.at += count;
	take_number(&cursor, 1);
	cie->unit = take_leb(&cursor);
	take_leb(&cursor); /* data alignment factor; then the column of the return address */
	take_leb(&cursor);
	cie->has_augmentation = count && *letters == 'z';
	if (cursor.is_broken || (count && !cie->has_augmentation))
		return;
	size = cie->has_augmentation ? take_leb(&cursor) : 0;
	if (cursor.is_broken || size > cursor.end - cursor.at ||
	    cursor.end - cursor.at - size > INSTRUCTIONS_MAX)
		return;
	cie->instructions = cursor.at + size;
	cie->end = cursor.end;
	cie->encoding = read_augmentation(&cursor, letters, count);
	if (cursor.is_broken)
		cie->encoding = ENCODED_OMIT;
}

#define FRAME_POINTER 6  /* x86-64 psABI, figure 3.36: RBP, */
#define STACK_POINTER 7  /* RSP */
#define RECORD_BYTES  16 /* from where RBP points to the CFA: the caller's RBP, return address */
#define STATES_MAX    8  /* nested DW_CFA_remember_state */
#define DEPTHS_MAX    16

/* Stack depths (see struct function_range), and the bytes of code that have each. */
struct depths {
	uint64_t reg, depth; /* CFA = reg + depth; depth 0: none */
	uint64_t unit;       /* code alignment factor */
	struct {
		uint64_t reg, depth;
	} remembered[STATES_MAX];
	size_t remembered_count;
	struct {
		uint64_t depth, bytes;
	} seen[DEPTHS_MAX];
};

static uint64_t depth_now(const struct depths *depths)
{
	if (depths->reg == STACK_POINTER)
		return depths->depth;
	return depths->depth == RECORD_BYTES ? EH_FRAME_POINTER : 0;
}

static void advance(struct depths *depths, uint64_t units)
{
	uint64_t depth = depth_now(depths);

	for (size_t i = 0; i < DEPTHS_MAX; i++) {
		if (depths->seen[i].bytes && depths->seen[i].depth != depth)
			continue;
		depths->seen[i].depth = depth;
		depths->seen[i].bytes += units * depths->unit;
		return;
	}
}

/* Executes one instruction (DW_CFA_*). False: not understood, or of another register. */
static bool follow_instruction(struct cursor *cursor, struct depths *depths)
{
	uint8_t code = take_number(cursor, 1);
	size_t last = depths->remembered_count - 1;

	switch (code & 0xc0 ? code & 0xc0 : code) {
	case 0x40: /* advance_loc */
		advance(depths, code & 0x3f);
		break;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		advance(depths, take_number(cursor, 1u << (code - 2)));
		break;
	case 0x00: /* nop */
	case 0xc0: /* restore */
		break;
	case 0x05: /* offset_extended, register, offset_extended_sf */
	case 0x09:
	case 0x11:
		take_leb(cursor);
		take_leb(cursor);
		break;
	case 0x80: /* offset */
	case 0x06: /* restore_extended, undefined, same_value, GNU_args_size */
	case 0x07:
	case 0x08:
	case 0x2e:
		take_leb(cursor);
		break;
	case 0x0a: /* remember_state */
		if (++last >= STATES_MAX)
			return false;
		depths->remembered[last].reg = depths->reg;
		depths->remembered[last].depth = depths->depth;
		depths->remembered_count++;
		break;
	case 0x0b: /* restore_state */
		if (last >= STATES_MAX)
			return false;
		depths->reg = depths->remembered[last].reg;
		depths->depth = depths->remembered[last].depth;
		depths->remembered_count--;
		break;
	case 0x0c: /* def_cfa */
		depths->reg = take_leb(cursor);
		depths->depth = take_leb(cursor);
		break;
	case 0x0d: /* def_cfa_register */
		depths->reg = take_leb(cursor);
		break;
	case 0x0e: /* def_cfa_offset */
		depths->depth = take_leb(cursor);
		break;
	default:
		return false;
	}
	return !cursor->is_broken && (depths->reg == STACK_POINTER || depths->reg == FRAME_POINTER);
}

/* The stack depth of most of the function's code. 0: unknown. */
static uint32_t find_frame(const struct table *table, const struct cie *cie, size_t at, size_t end,
			   uint64_t size)
{
	struct cursor cursors[] = {{.table = table, .at = cie->instructions, .end = cie->end},
				   {.table = table, .at = at, .end = end}};
	struct depths depths = {.reg = STACK_POINTER, .unit = cie->unit};
	uint64_t best = 0, all = 0;
	uint32_t frame = 0;

	for (size_t i = 0; i < 2; i++)
		while (cursors[i].at < cursors[i].end)
			if (!follow_instruction(&cursors[i], &depths))
				return 0;
	for (size_t i = 0; i < DEPTHS_MAX; i++)
		all += depths.seen[i].bytes;
	if (all < size)
		advance(&depths, (size - all) / (depths.unit ? depths.unit : 1));
	for (size_t i = 0; i < DEPTHS_MAX; i++)
		if (depths.seen[i].bytes > best && depths.seen[i].depth < UINT16_MAX) {
			best = depths.seen[i].bytes;
			frame = (uint32_t)depths.seen[i].depth;
		}
	return frame;
}

static int add_function(struct table *table, uint64_t start, uint64_t size, uint32_t frame)
{
	struct function_range *more;

	if (!start || !size || start + size < start)
		return 0;
	if (table->count == table->room) {
		table->room = table->room ? 2 * table->room : 1024;
		more = reallocarray(table->functions, table->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		table->functions = more;
	}
	table->functions[table->count++] =
		(struct function_range){.start = start, .end = start + size, .frame = frame};
	return 0;
}

/* Reads one FDE; the cursor is behind the pointer to its CIE. */
static int read_fde(struct table *table, struct cursor cursor, const struct cie *cie)
{
	uint64_t start = take_pointer(&cursor, cie->encoding, false);
	uint64_t size = take_pointer(&cursor, cie->encoding, true);
	uint64_t skipped = cie->has_augmentation ? take_leb(&cursor) : 0;
	uint32_t frame = 0;

	if (cie->encoding == ENCODED_OMIT || cursor.is_broken)
		return 0;
	if (table->has_frames && skipped <= cursor.end - cursor.at)
		frame = find_frame(table, cie, cursor.at + skipped, cursor.end, size);
	return add_function(table, start, size, frame);
}

/* Entries follow one another. One of length 0 ends the entries of one input file of the linker. */
static int read_entries(struct table *table)
{
	struct cursor cursor = {.table = table, .end = table->size};
	struct cie cie = {.at = SIZE_MAX};
	int error = 0;

	while (!error) {
		size_t entry = cursor.at;
		uint64_t length = take_number(&cursor, 4), back;
		struct cursor content = cursor;

		if (!length && !cursor.is_broken && table->is_bounded)
			continue;
		if (cursor.is_broken || !length || length > cursor.end - cursor.at)
			break; /* no linker writes 64-bit entries, of length 0xffffffff */
		content.end = cursor.at + length;
		back = take_number(&content, 4);
		if (back && back <= entry + 4 && !content.is_broken) {
			if (cie.at != entry + 4 - back)
				read_cie(table, entry + 4 - back, &cie);
			error = read_fde(table, content, &cie);
		}
		cursor.at += length;
	}
	return error;
}

static int compare_functions(const void *left, const void *right)
{
	const struct function_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/* Keeps one function per address, and ends each no later than where the next one begins. */
static void tidy(struct table *table)
{
	struct function_range *functions = table->functions;
	size_t kept = 0;

	if (table->count)
		qsort(functions, table->count, sizeof(*functions), compare_functions);
	for (size_t i = 0; i < table->count; i++) {
		if (kept && functions[kept - 1].start == functions[i].start)
			kept--;
		if (kept && functions[kept - 1].end > functions[i].start)
			functions[kept - 1].end = functions[i].start;
		functions[kept++] = functions[i];
	}
	table->count = kept;
}

/* Follows .eh_frame_hdr: its version, 1, then the encoding of its pointer to .eh_frame. */
static bool follow_header(const struct elf_file *file, uint64_t address, uint64_t *tables)
{
	struct {
		uint8_t version, pointer, count, table;
		int32_t distance;
	} start;

	if (elf_file__read(file, address, &start, sizeof(start)) != sizeof(start) ||
	    start.version != 1 || start.pointer != (ENCODED_PCREL | ENCODED_SDATA4))
		return false;
	*tables = address + 4 + (uint64_t)(int64_t)start.distance;
	return true;
}

/*
 * Uses the section or, if there are no section headers, PT_GNU_EH_FRAME, which static programs may
 * lack; then the size is unknown.
 */
static bool find_tables(const struct elf_file *file, struct table *table, uint64_t *size)
{
	struct elf_segment segment;

	table->is_bounded = elf_file__section(file, ".eh_frame", &table->address, size);
	if (table->is_bounded)
		return true;
	*size = TABLE_LIMIT;
	for (size_t i = 0; elf_file__segment(file, i, &segment); i++)
		if (segment.type == PT_GNU_EH_FRAME &&
		    follow_header(file, segment.address, &table->address))
			return true;
	return false;
}

/* Loads the part of the tables that the file contains; the size that it states is not trusted. */
static int load_tables(const struct elf_file *file, struct table *table)
{
	uint64_t size, there;
	ssize_t length;

	if (!find_tables(file, table, &size))
		return -ENOENT;
	there = elf_file__bytes_at(file, table->address);
	if (size > there)
		size = there;
	if (!size || size > TABLE_LIMIT)
		return -ENOENT;
	table->bytes = malloc(size);
	if (!table->bytes)
		return -ENOMEM;
	length = elf_file__read(file, table->address, table->bytes, size);
	table->size = length > 0 ? (size_t)length : 0;
	return 0;
}

int eh_frame__read(const struct elf_file *file, struct function_range **functions, size_t *count)
{
	struct table table = {.has_frames = elf_file__machine(file) == EM_X86_64};
	int error = load_tables(file, &table);

	*functions = NULL;
	*count = 0;
	if (!error)
		error = read_entries(&table);
	free(table.bytes);
	if (!error && !table.count)
		error = -ENOENT;
	if (error) {
		free(table.functions);
		return error;
	}
	tidy(&table);
	*functions = table.functions;
	*count = table.count;
	return 0;
}

size_t eh_frame__find(const struct function_range *functions, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < functions[low - 1].end ? low - 1 : SIZE_MAX;
}
