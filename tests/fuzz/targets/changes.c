/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "changes.h"

uint64_t changes__read(const struct memory *memory, uint64_t address)
{
	address &= ~7ULL;
	return memory__has(memory, address, 8) ? memory__get(memory, address, 8) : 0;
}

void changes__write(struct changes *changes, struct memory *memory, uint64_t address, uint64_t word)
{
	address &= ~7ULL;
	if (changes->done_count == CHANGES_MAX || !memory__has(memory, address, 8))
		return;
	changes->done[changes->done_count++] =
		(struct change){.address = address, .word = memory__get(memory, address, 8)};
	memory__put(memory, address, word, 8);
}

void changes__plan(struct changes *changes, uint64_t address, uint64_t word, uint64_t after)
{
	if (changes->planned_count < CHANGES_MAX)
		changes->planned[changes->planned_count++] =
			(struct change){.address = address, .word = word, .after = after};
}

void changes__make_planned(struct changes *changes, struct memory *memory)
{
	for (size_t i = 0; i < changes->planned_count; i++)
		if (changes->planned[i].after == memory->reads)
			changes__write(changes, memory, changes->planned[i].address,
				       changes->planned[i].word);
}

void changes__undo(struct changes *changes, struct memory *memory)
{
	memory__mend(memory);
	changes->planned_count = 0;
	while (changes->done_count) {
		const struct change *change = &changes->done[--changes->done_count];

		memory__put(memory, change->address, change->word, 8);
	}
}
