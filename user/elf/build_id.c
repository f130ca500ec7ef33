/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/build_id.h"

#include <elf.h>
#include <string.h>

#define SEGMENTS_MOST 64 /* program headers to read; programs have about a dozen */
#define NOTES_MOST    8  /* segments of notes to read */
#define NOTES_SIZE    1024

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

static size_t find_note(const char *notes, size_t size, uint8_t id[BUILD_ID_MAX])
{
	size_t at = 0, content, next;
	Elf64_Nhdr note;

	for (; size - at >= sizeof(note); at = next) {
		memcpy(&note, notes + at, sizeof(note));
		content = at + sizeof(note) + padded(note.n_namesz);
		next = content + padded(note.n_descsz);
		if (next > size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + at + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) &&
		    note.n_descsz <= BUILD_ID_MAX) {
			memcpy(id, notes + content, note.n_descsz);
			return note.n_descsz;
		}
	}
	return 0;
}

size_t build_id__read(const struct elf_file *file, uint8_t id[BUILD_ID_MAX])
{
	struct elf_segment segment;
	char notes[NOTES_SIZE];
	size_t found = 0;
	int tried = 0;

	for (size_t i = 0; !found && i < SEGMENTS_MOST && tried < NOTES_MOST; i++) {
		ssize_t size;

		if (!elf_file__segment(file, i, &segment))
			break;
		if (segment.type != PT_NOTE)
			continue;
		tried++;
		size = elf_file__read(file, segment.address, notes,
				      segment.size < sizeof(notes) ? segment.size : sizeof(notes));
		if (size > 0)
			found = find_note(notes, (size_t)size, id);
	}
	return found;
}
