/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds every interpreter in a process by the contents of its files, never by their names. This
 * only names candidates; samples of the running program decide on the layouts.
 */
#ifndef LS_INTERPRETERS_H
#define LS_INTERPRETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/lua_files.h"
#include "target.h"

/* No process has been seen with more; those that are left out are counted. */
#define INTERPRETERS_MAX 8

struct interpreter {
	struct lua_file file;                 /* its family is set */
	char *path;                           /* of the file, as the target sees it; owned */
	struct ls_range code[LS_CODE_RANGES]; /* of that file, and of the program itself */
	struct gc_code gc;                    /* at the process's addresses, as is `library` */
	struct c_library library;
};

struct interpreters {
	struct interpreter *items; /* in order of address; most processes have one or none */
	size_t count;
	size_t profiled; /* number of items with a layout, which are profiled */
	size_t left_out;
	bool has_unread; /* some files or mappings were too large or too many to inspect */
	bool is_cut;     /* the process has more mappings than are read */
};

/* Whether its scripts are profiled; else it is only reported. */
bool interpreter__is_profiled(const struct interpreter *interpreter);

/*
 * Returns 0, even if there is none; -ENOTSUP: not a 64-bit process of this machine; -ESRCH and
 * other -errno. Free with interpreters__free() in every case.
 */
int interpreters__find(struct lua_files *files, pid_t pid, struct interpreters *found);

/* Fills in what BPF should know of their code; the rest of *image is left as it is. */
void interpreters__put_code(const struct interpreters *found, struct ls_image *image);

/* Whether both are the same interpreters: none was loaded or unloaded in between. */
bool interpreters__are_equal(const struct interpreters *one, const struct interpreters *other);

/* Whether one is of the file at that path. */
bool interpreters__contain(const struct interpreters *found, const char *path);

void interpreters__free(struct interpreters *found);

#endif
