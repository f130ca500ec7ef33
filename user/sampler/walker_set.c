/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/walker_set.h"

#include <poll.h>

#include "base/log.h"
#include "interpreter/family.h"
#include "sampler/load_failure.h"
#include "sampler/walker_loader.h"
#include "system/resource_limits.h"

void walker_set__free(struct walker_set *set)
{
	walker_loader__free(set->loader);
	set->loader = NULL;
}

int walker_set__delegate(struct walker_set *set)
{
	return walker_loader__start(set->programs, &set->loader);
}

static int refuse(uint32_t family, int error, const char *why)
{
	log_error("cannot load the BPF program for %s: %s", families__variety(family), why);
	return error;
}

/* Waits for the next of the walkers that are awaited. 0, or -errno after logging why. */
static int take_next(struct walker_set *set)
{
	char why[LOAD_FAILURE_SIZE];
	struct walker_files walker;
	uint32_t family = (uint32_t)__builtin_ctz(set->awaited);
	int error;

	error = walker_loader__receive(set->loader, &family, &walker, why, sizeof(why));
	set->awaited &= ~(1U << family);
	if (error)
		return refuse(family, error, why);
	error = programs__add_walker(set->programs, family, &walker);
	if (!error)
		return 0;
	load_failure__explain(error, why, sizeof(why));
	return refuse(family, error, why);
}

static int request(struct walker_set *set, uint32_t family)
{
	int error = 0;

	if (!(set->awaited >> family & 1))
		error = walker_loader__request(set->loader, family);
	if (error)
		return refuse(family, error, "the process that loads BPF programs has ended");
	set->awaited |= 1U << family;
	return set->loads_aside ? 0 : take_next(set);
}

static int load(struct walker_set *set, uint32_t family)
{
	char why[LOAD_FAILURE_SIZE];
	int error;

	if (set->loader && !set->programs->walkers[family].is_loaded)
		return request(set, family);
	error = programs__load_walker(set->programs, family);
	if (!error)
		return 0;
	load_failure__explain(error, why, sizeof(why));
	return refuse(family, error, why);
}

int walker_set__need(struct walker_set *set, uint32_t families)
{
	int error = 0;

	for (uint32_t id = 0; !error && id < LS_FAMILY_COUNT; id++)
		if (families >> id & 1)
			error = load(set, id);
	return error;
}

int walker_set__load_all(struct walker_set *set, bool only_common)
{
	int failed = 0;

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		int error = 0;

		if (!only_common || families__get(id)->is_common)
			error = programs__load_walker(set->programs, id);
		if (!error)
			continue;
		failed = error;
		log_debug("cannot load the BPF program for %s, which a target may need later: %s",
			  families__variety(id), resource_limits__reason(error));
	}
	return failed;
}

int walker_set__take(struct walker_set *set)
{
	struct pollfd answer = {.fd = walker_loader__fd(set->loader), .events = POLLIN};
	int error = 0;

	while (!error && set->awaited && poll(&answer, 1, 0) > 0)
		error = take_next(set);
	return error;
}
