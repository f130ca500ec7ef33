/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process of a tally: what each of its functions has. Nobody's but tally.c's. */
#ifndef LS_TALLY_GROUP_H
#define LS_TALLY_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "hash_table.h"
#include "profile.h"
#include "tally.h"

/* A function as it was at the last look; its place in the array is its id. */
struct tally_function {
	char *source, *name;
	uint32_t line;
	bool has_changed; /* into another since the look before */
};

/* What its samples stand for: see ls_profile_node.weight_ns. */
struct tally_entry {
	uint32_t function;
	struct tally_times now, base, recent; /* base: at the reset */
};

/* Of a process. */
struct tally_samples {
	uint64_t count;     /* without those that were lost */
	uint64_t weight_ns; /* what they stand for */
	uint64_t script_ns; /* of that, with script on the stack */
	uint64_t lost_ns;   /* what others stand for, which were lost */
};

/* What the kernel charged it. */
struct tally_cpu {
	uint64_t look_ns; /* as it is being seen */
	uint64_t now_ns, base_ns, recent_ns;
};

struct tally_group {
	char *name;               /* NULL: of a tally of one process */
	struct tally_group *into; /* it is counted there, and has no counts; NULL: it has */
	uint32_t id;
	uint32_t first_category; /* of those that it consists of: an index + 1; 0: none */
	struct tally_entry *entries;
	uint32_t entry_count, entry_room;
	struct tally_samples now, base, recent;
	struct tally_cpu cpu;
	uint32_t living;
	uint64_t ended_ns; /* when it was seen that it had; 0: it has not */
	bool has_news;     /* to be counted */
	bool has_recent;   /* perhaps: to be settled */
	UT_hash_handle hh; /* by `name` */
};

/* Of a node and all below it. */
struct tally_totals {
	uint64_t samples, weight_ns, self_ns;
};

/* What counting needs of the profile, the same for all groups of a look. */
struct tally_walk {
	const struct ls_profile *profile;
	const struct tally_function *functions;
	struct tally_totals *totals; /* by node; of 0, all */
	struct tally_slot *slots;
	uint32_t *touched; /* functions that were met, of which slots are in use */
	uint32_t touched_count;
};

/*
 * `functions` are those of the profile, and those that groups have entries of: ids up to
 * `function_count`. 0 or -ENOMEM. Free with tally_walk__end(), also after a failure.
 */
int tally_walk__begin(struct tally_walk *walk, const struct ls_profile *profile,
		      const struct tally_function *functions, uint32_t function_count);
void tally_walk__end(struct tally_walk *walk);

/*
 * Adds a category to what is being counted, then hands the sum over to the group: 0 or -ENOMEM, and
 * nothing is being counted any more.
 */
void tally_walk__count(struct tally_walk *walk, uint32_t category_node,
		       struct tally_samples *samples);
int tally_group__take(struct tally_group *group, struct tally_walk *walk,
		      struct tally_samples samples);

/*
 * All that it was charged by this look is in cpu.look_ns. Less than before is what is not told yet
 * of one that has just ended.
 */
void tally_group__take_cpu(struct tally_group *group);

/* Since the reset. */
struct tally_samples tally_group__all(const struct tally_group *group);

/* The CPU time of samples that weigh so much, of those since the look before, or the reset. */
uint64_t tally_group__recent_ns(const struct tally_group *group, uint64_t weight_ns);
uint64_t tally_group__all_ns(const struct tally_group *group, uint64_t weight_ns);

/* It has nothing that is recent. */
void tally_group__settle(struct tally_group *group);

/* Counts begin anew. */
void tally_group__reset(struct tally_group *group);

/* All that `from` has is `into`'s. 0; -ENOMEM: nothing has changed. */
int tally_group__fold(struct tally_group *from, struct tally_group *into);

/* NULL when out of memory; `name` is copied, and may be NULL. __free() takes NULL. */
struct tally_group *tally_group__new(const char *name, uint32_t id);
void tally_group__free(struct tally_group *group);

#endif
