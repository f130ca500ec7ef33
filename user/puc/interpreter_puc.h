/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds PUC Lua in a process: by what its files contain, never by their names. That only orders
 * the candidates; samples of the running program decide on the layout.
 */
#ifndef LS_INTERPRETER_PUC_H
#define LS_INTERPRETER_PUC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector_puc.h"
#include "target.h"

struct interpreter_puc {
	char release[16]; /* "5.4.4", or "5.4" where the file does not tell */
	char *path;       /* of the file, as the target sees it; owned */
	bool is_shared_library;
	bool is_stripped;
	struct ls_range code[LS_CODE_RANGES]; /* of that file, and of the program itself */
	struct collector_puc collector;
	uint16_t layouts; /* bit per entry of layouts_puc[] that may fit */
};

/*
 * 0; -ENOENT: no PUC Lua, and *other is then the name of another Lua that was found, or NULL;
 * -ENOTSUP: the process is not a 64-bit one; other -errno. Free with interpreter_puc__free() after
 * 0.
 */
int interpreter_puc__identify(pid_t pid, struct interpreter_puc *interpreter, const char **other);

/* For a Lua that no layout of its release fits: every layout that a walk can tell from others. */
uint16_t interpreter_puc__all_layouts(void);
void interpreter_puc__free(struct interpreter_puc *interpreter);

#endif
