/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbols/call_site.h"

#include <stdio.h>
#include <string.h>

bool call_site__has_name(const struct call_site *site)
{
	return site->kind != CALL_SITE_UNKNOWN && site->name[0] && site->name[0] != '(' &&
	       strcmp(site->name, "?") != 0 && strcmp(site->name, "integer index") != 0;
}

void call_site__name_iterator(struct call_site *site, bool is_made)
{
	char made_by[sizeof(site->name)];

	if (!call_site__has_name(site)) {
		strcpy(site->name, CALL_SITE_ANY_ITERATOR);
	} else if (is_made) {
		strcpy(made_by, site->name);
		snprintf(site->name, sizeof(site->name), CALL_SITE_ITERATOR_OF "%.*s",
			 (int)(sizeof(made_by) - sizeof(CALL_SITE_ITERATOR_OF)), made_by);
	}
	site->kind = CALL_SITE_ITERATOR;
}
