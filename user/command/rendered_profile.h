/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A profile with the view options applied, ready to be written. */
#ifndef LS_RENDERED_PROFILE_H
#define LS_RENDERED_PROFILE_H

#include "options/options.h"
#include "profile/merged_profile.h"
#include "profile/totals.h"
#include "profile/view.h"

struct rendered_profile {
	struct view *view; /* NULL: shown as recorded */
	struct merged_profile *merged;
	struct ls_totals totals;
};

/*
 * `raw` is a profile as recorded, borrowed. 0, or -errno after reporting it. Free with
 * rendered_profile__free(), even after a failure.
 */
int rendered_profile__make(const struct ls_profile *raw, const struct record_options *options,
			   struct rendered_profile *shown);
void rendered_profile__free(struct rendered_profile *shown);

#endif
