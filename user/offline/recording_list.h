/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several recordings, read from files. */
#ifndef LS_RECORDING_LIST_H
#define LS_RECORDING_LIST_H

#include <stddef.h>

#include "profile/profile.h"

struct recording_list;

/* Reads `count` files, at least one. 0, or -errno after reporting it; *list is then NULL. */
int recording_list__open(char *const *paths, size_t count, struct recording_list **list);
void recording_list__close(struct recording_list *list);

/* The profiles, in order of the paths. Valid until the list is closed. */
const struct ls_profile *const *recording_list__profiles(const struct recording_list *list);

#endif
