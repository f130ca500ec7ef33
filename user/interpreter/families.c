/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one place that knows all families. */
#include <errno.h>
#include <stdio.h>

#include "interpreter/family.h"

#define X(NAME, name) extern const struct family family_##name;
LS_FAMILIES(X)
#undef X

/* ---- the table */

#define X(NAME, name) [LS_FAMILY_##NAME] = &family_##name,

const struct family *const families[] = {LS_FAMILIES(X)};

#undef X

const size_t families_count = sizeof(families) / sizeof(families[0]);

uint16_t family__layouts(const struct family *family)
{
	uint32_t count = 0;

	while (family->layout_name && family->layout_name(count))
		count++;
	return (uint16_t)((1U << count) - 1);
}

void families__choose(struct ls_image *image)
{
	image->families = 0;
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (image->candidates[id].layouts)
			image->families |= 1U << id;
}

const struct family *families__get(uint32_t id)
{
	return id < LS_FAMILY_COUNT ? families[id] : NULL;
}

const char *families__variety(uint32_t id)
{
	const struct family *family = families__get(id);

	return family->variety ? family->variety : family->name;
}

bool layout__get(uint32_t id, uint32_t slot, struct layout *layout)
{
	const struct family *family = families__get(id);

	*layout = (struct layout){.family = family, .slot = slot};
	if (family)
		layout->offsets = family->offsets(slot);
	return layout->offsets != NULL;
}

bool layout__of_sample(const struct ls_sample *sample, struct layout *layout)
{
	return layout__get(sample->family, sample->layout, layout);
}

int layout__find(const char *name, struct layout *layout)
{
	struct layout found;

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		int slot = families[id]->find_layout(name);

		if (slot < 0 || !layout__get(id, (uint32_t)slot, &found))
			continue;
		if (layout)
			*layout = found;
		return 0;
	}
	return -ENOENT;
}

void layout__list(char *to, const char *separator)
{
	size_t length = 0;
	const char *name;

	*to = '\0';
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		for (uint32_t slot = 0; (name = families[id]->layout_name(slot)); slot++)
			if (length < LAYOUT_LIST_SIZE)
				length += (size_t)snprintf(to + length, LAYOUT_LIST_SIZE - length,
							   "%s%s", length ? separator : "", name);
}
