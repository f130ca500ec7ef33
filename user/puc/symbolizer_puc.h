/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turns the frames of one process's PUC Lua into functions with names. */
#ifndef LS_SYMBOLIZER_PUC_H
#define LS_SYMBOLIZER_PUC_H

#include <stdint.h>
#include <sys/types.h>

#include "elf_files.h"
#include "functions.h"
#include "layout.h"
#include "record.h"

struct symbolizer_puc;

/* NULL when out of memory. `functions` and `files` are the caller's and must outlive it. */
struct symbolizer_puc *symbolizer_puc__new(pid_t pid, struct functions *functions,
					   struct elf_files *files);
void symbolizer_puc__free(struct symbolizer_puc *symbolizer);

/* While the process lives: reads what names of machine code need later. */
void symbolizer_puc__prepare(struct symbolizer_puc *symbolizer);

/* BPF saw this prototype for the first time. 0 or -ENOMEM. */
int symbolizer_puc__define(struct symbolizer_puc *symbolizer, const struct ls_function *function);

struct symbol_quality {
	int is_known; /* 0: "(collected)", a prototype that BPF could not define */
	int has_line; /* 0: its table of lines could not be read, now or when it was first asked for
		       */
};

/*
 * The function of a sample's frames[0], at the line where it stands, if that is known; frames[1],
 * where count > 1, is its caller. 0 when out of memory. A chunk that was stripped of its lines
 * lacks none.
 */
uint32_t symbolizer_puc__function(struct symbolizer_puc *symbolizer, const struct ls_sample *sample,
				  const struct ls_frame *frames, uint32_t count,
				  struct symbol_quality *quality);

/*
 * What the caller of frames[0] calls it, as debug.getinfo would have it; NULL: nothing. Good until
 * the next call.
 */
const char *symbolizer_puc__called(struct symbolizer_puc *symbolizer,
				   const struct ls_puc_layout *layout,
				   const struct ls_frame *frames, uint32_t count);

/* Names functions by what called them once only. Again at the end, before the process is freed. */
void symbolizer_puc__suggest_names(struct symbolizer_puc *symbolizer);

/* Tries once more to name C functions, now that all modules are loaded. */
void symbolizer_puc__finish(struct symbolizer_puc *symbolizer, const struct ls_puc_layout *layout,
			    uint64_t state);

/*
 * What BPF defined is kept in a cache. When it is full, have BPF send all definitions again, take
 * in what was sent before it was told, and let the cache age: what has not been seen for long goes,
 * and no sample that is still to come has it.
 */
int symbolizer_puc__is_full(const struct symbolizer_puc *symbolizer);
void symbolizer_puc__age(struct symbolizer_puc *symbolizer);

/* Sets used[id] of the functions that it may hand out without making them. */
void symbolizer_puc__mark(struct symbolizer_puc *symbolizer, uint8_t *used);

/* Call sites that could not be read, for good. */
uint64_t symbolizer_puc__unnamed_calls(const struct symbolizer_puc *symbolizer);

#endif
