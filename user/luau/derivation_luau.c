/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/derivation_luau.h"

#include <errno.h>

/* One function in this many may contradict: the program may have freed it meanwhile. */
#define FUNCTIONS_PER_WRONG 16

bool derivation_luau__holds(const struct derivation *derivation, judge *judge, size_t offset,
			    size_t needed)
{
	const struct specimens *specimens = derivation->specimens;
	size_t wrong = 0, right = 0;

	for (size_t i = 0; i < specimens->proto_count; i++) {
		enum verdict verdict = judge(derivation, &specimens->protos[i], offset);

		wrong += verdict == CONTRADICTS;
		right += verdict == CONFIRMS;
		if (wrong > specimens->proto_count / FUNCTIONS_PER_WRONG)
			return false;
	}
	return right >= needed;
}

size_t derivation_luau__find(const struct derivation *derivation, judge *judge, size_t expected,
			     size_t size, size_t needed)
{
	size_t found = 0;

	if (expected >= FIRST_MEMBER && expected + size <= PROTO_BYTES &&
	    derivation_luau__holds(derivation, judge, expected, needed))
		return expected;
	for (size_t offset = FIRST_MEMBER; offset + size <= PROTO_BYTES; offset += size) {
		if (!derivation_luau__holds(derivation, judge, offset, needed))
			continue;
		if (found)
			return 0;
		found = offset;
	}
	return found;
}

int derivation_luau__give_up(struct derivation *derivation, const char *missing)
{
	derivation->missing = missing;
	return -ENODATA;
}

uint64_t derivation_luau__word(const struct derivation *derivation, uint64_t address)
{
	uint64_t word;

	return target_memory__read(derivation->specimens->memory, address, &word, sizeof(word))
		       ? 0
		       : word;
}
