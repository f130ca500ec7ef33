/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where programs that are known keep their plugins. */
#ifndef LS_PLUGIN_PRESETS_H
#define LS_PLUGIN_PRESETS_H

#include "patterns.h"

#define PLUGIN_PRESETS_TEXT "neovim, kong, apisix, prosody"

/* Adds those of "NAME[,NAME]...". 0; -ENOENT: one of them is not known; -E2BIG: too many globs. */
int plugin_presets__add(struct patterns *patterns, const char *names);

#endif
