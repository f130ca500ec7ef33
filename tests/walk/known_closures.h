/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes samples until a walker knows the closures of callers. The includer has included its
 * family's fixture, and defined SAMPLE(walker, image).
 */
#ifndef TEST_KNOWN_CLOSURES_H
#define TEST_KNOWN_CLOSURES_H

#define MS UINT64_C(1000000)

/* Takes a sample every millisecond. */
static void sample_for(struct fixture *fixture, int milliseconds)
{
	fixture->walker.step_ns = MS;
	for (int i = 0; i < milliseconds; i++)
		SAMPLE(&fixture->walker, &fixture->image);
}

/* Returns when the closures are trusted for 3 ms and the last sample has read them. */
static void prove(struct fixture *fixture)
{
	uint64_t reads;

	sample_for(fixture, 3000);
	for (int i = 0; i < 25; i++) {
		reads = fixture->walker.reads;
		sample_for(fixture, 1);
		if (fixture->walker.reads > reads)
			return;
	}
	fail_msg("they are not read again");
}

/* Returns the innermost frame (0) or one of its callers, as in the last sample. */
static const struct ls_frame *frame(const struct fixture *fixture, size_t at)
{
	return &fixture->walker.scratch->frames[at];
}

#endif
