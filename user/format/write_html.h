/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The profile as a page that shows it: one file that needs no server and no network. */
#ifndef LS_WRITE_HTML_H
#define LS_WRITE_HTML_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/totals.h"

/*
 * Writes the page of user/page/ with the profile as ScriptProfiler v2 JSON in it. The stream gets
 * none of the characters "<", ">" and "&" out of the profile, so no name can end the element that
 * holds it. 0, or -errno of the stream, or -ENOMEM. Errors in writing its buffer only appear when
 * it is flushed: check that, too.
 */
int write_html(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream);

#endif
