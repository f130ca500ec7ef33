/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where well-known programs keep their plugins. */
#ifndef LS_PLUGIN_PRESETS_H
#define LS_PLUGIN_PRESETS_H

#include "profile/patterns.h"

#define PLUGIN_PRESETS_TEXT "neovim, kong, apisix, prosody"

/* Adds the globs of "NAME[,NAME]...". 0; -ENOENT: an unknown name; -E2BIG: too many globs. */
int plugin_presets__add(struct patterns *patterns, const char *names);

#endif
