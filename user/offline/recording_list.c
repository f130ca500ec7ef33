/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/recording_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "reader/profile_file.h"
#include "system/resource_limits.h"

struct recording_list {
	struct profile_file **files;
	const struct ls_profile **profiles;
	size_t count; /* that are open */
};

static struct recording_list *allocate(size_t count)
{
	struct recording_list *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->files = calloc(count, sizeof(*list->files));
	list->profiles = calloc(count, sizeof(*list->profiles));
	if (list->files && list->profiles)
		return list;
	recording_list__close(list);
	return NULL;
}

int recording_list__open(char *const *paths, size_t count, struct recording_list **opened)
{
	struct recording_list *list = allocate(count);
	int error = list ? 0 : -ENOMEM;

	*opened = NULL;
	if (error)
		log_error("cannot read '%s': %s", paths[0], resource_limits__reason(error));
	while (!error && list->count < count) {
		struct profile_file **file = &list->files[list->count];

		error = profile_file__open(paths[list->count], file);
		if (!error)
			list->profiles[list->count++] = profile_file__profile(*file);
	}
	if (error)
		recording_list__close(list);
	else
		*opened = list;
	return error;
}

void recording_list__close(struct recording_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		profile_file__close(list->files[i]);
	free(list->files);
	free(list->profiles);
	free(list);
}

const struct ls_profile *const *recording_list__profiles(const struct recording_list *list)
{
	return list->profiles;
}
