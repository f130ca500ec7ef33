/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/calibration.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/log.h"

/*
 * The n-th try comes after so many samples that fit no layout: at first soon, then when the program
 * has had time to define more functions.
 */
static const uint64_t misfits_before[] = {8, 24, 56};

#define TRIES (sizeof(misfits_before) / sizeof(misfits_before[0]))

static bool is_due(const struct calibration *calibration, const struct layout_vote *vote,
		   bool is_last)
{
	return vote->family->calibrate && !vote->is_forced && !vote->is_decided &&
	       !vote->is_contradicted && vote->misfit_state && calibration->tries < TRIES &&
	       (is_last || vote->misfits >= misfits_before[calibration->tries]);
}

static bool fail(struct calibration *calibration, const char *reason, const char *target)
{
	snprintf(calibration->reason, sizeof(calibration->reason), "%s", reason);
	log_debug("%s: its layout cannot be derived: %s", target, reason);
	return false;
}

/* The samples so far count neither for the new candidate nor against it. */
static bool add_candidate(struct calibration *calibration, struct layout_vote *vote,
			  const void *offsets, const char *target)
{
	int slot = vote->family->add_layout(offsets);
	uint16_t bit = slot < 0 ? 0 : (uint16_t)(1U << slot);

	if (!bit)
		return fail(calibration, "too many other layouts were derived already", target);
	if (vote->candidates & bit)
		return fail(calibration, "samples contradict the one that was derived", target);
	log_debug("%s: derived the layout %s", target, vote->family->layout_name((uint32_t)slot));
	calibration->reason[0] = '\0';
	vote->named |= bit;
	vote->candidates |= bit;
	vote->misfits = vote->unsure = 0;
	vote->misfit_ns = 0;
	return true;
}

static bool try_vote(struct calibration *calibration, struct inspector *inspector, pid_t pid,
		     struct layout_vote *vote, const char *target)
{
	struct calibrated calibrated;
	int error =
		inspector__calibrate(inspector, pid, vote->family, vote->misfit_state, &calibrated);

	if (inspector__is_later(error))
		return false;
	calibration->tries++;
	if (error == -ENODATA)
		return fail(calibration, calibrated.reason, target);
	if (error)
		return fail(calibration, "its memory cannot be read", target);
	return add_candidate(calibration, vote, calibrated.offsets, target);
}

bool calibration__try(struct calibration *calibration, struct inspector *inspector, pid_t pid,
		      struct layout_votes *votes, bool is_last, const char *target)
{
	bool is_new = false;

	for (size_t i = 0; i < votes->count; i++)
		if (is_due(calibration, &votes->items[i], is_last))
			is_new |= try_vote(calibration, inspector, pid, &votes->items[i], target);
	return is_new;
}
