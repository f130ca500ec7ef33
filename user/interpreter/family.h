/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A family of interpreters: a VM whose releases keep their stacks in the same way and differ in
 * layouts. All that luaspy knows about a family is behind this struct, in a folder of its own
 * (user/puc/), and in its walker; apart from include/families.h, nothing else names a family. The
 * knowledge has three scopes:
 *
 * - A *file*, once for all processes that have it mapped: whether it contains this VM, of which
 *   release, which layouts that release may have, and where its garbage collector's code is
 *   (recognise). Its content decides, never a name.
 * - A *process*: which layout its samples agree on (layout_vote.h), and what the functions on its
 *   stacks are called (symbolizer.h). That code is the same for all families; the family only reads
 *   memory: lines, definitions, call sites, tables (struct memory_ops).
 * - An *instance*, a VM in a process: its coroutines, and where it is if no stack leads to it
 *   (struct walker_ops, for luaspy dump).
 *
 * A layout is a slot of a family: an index into the family's own table. The BPF side of a family is
 * bpf/<family>/walk_<family>.bpf.c (that of luajit32 lies in the folder of luajit); bpf/README.md
 * explains how to add one.
 */
#ifndef LS_FAMILY_H
#define LS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpreter/walker.h"
#include "memory/target_memory.h"
#include "record.h"
#include "target.h"

struct call_site;
struct elf_file;
struct line_table;
struct lua_file;
struct nested_definitions;
struct table_ops;

#define LAYOUT_OFFSETS_MAX 256 /* bytes */

/* A prototype as it was sampled. */
struct prototype_key {
	uint64_t address;
	uint64_t fingerprint;
};

#define MARKERS_MAX    4
#define MARKERS_NEEDED 2

/*
 * Strings of a release that survive -Os, -flto and --gc-sections, which remove its version string.
 * Single ones occur in files without a VM, so at least MARKERS_NEEDED of them must be present.
 */
struct markers {
	const char *release; /* for messages: "5.4"; NULL: the markers do not tell */
	const char *strings[MARKERS_MAX];
};

/*
 * How the worker reads a process's memory, under a layout of the family: `offsets` is what
 * family->offsets() returned. No content is trusted. Each function returns 0; -EFAULT or -ESRCH:
 * the memory cannot be read; -EINVAL: it is inconsistent (torn or hostile); -E2BIG; -ENOMEM.
 */
struct memory_ops {
	/* Whether the prototype of `key` is still there: 0; -ESTALE: it was collected; -ESRCH. */
	int (*check_prototype)(const struct target_memory *memory, const void *offsets,
			       const struct prototype_key *key);
	/* The lines of the prototype at this address; *table is NULL if it was stripped of them. */
	int (*read_lines)(const struct target_memory *memory, const void *offsets,
			  uint64_t prototype, struct line_table **table);
	/*
	 * The whole name of the chunk of the prototype at this address, which is the chunk's text
	 * if it was loaded from a string: *length bytes, malloc()ed; -E2BIG: more than `most`;
	 * -ENOENT: it has none.
	 */
	int (*read_source)(const struct target_memory *memory, const void *offsets,
			   uint64_t prototype, size_t most, char **text, size_t *length);
	/* By which name the prototype at `caller` calls a function at instruction `pc`. */
	int (*read_call_site)(const struct target_memory *memory, const void *offsets,
			      uint64_t caller, uint32_t pc, struct call_site *site);
	/*
	 * What the code of the prototype at `parent` calls the functions that it defines: those
	 * that it names as their source text does (nested_definitions.h); free found->items with
	 * free(). A function whose name is in doubt has none. May be missing.
	 */
	int (*read_nested)(const struct target_memory *memory, const void *offsets, uint64_t parent,
			   struct nested_definitions *found);
	/*
	 * Access to tables, from which the names of C functions are read. NULL: they have those of
	 * their symbols.
	 */
	const struct table_ops *tables;
};

struct family {
	const char *name;    /* for messages, before the release: "Lua" */
	const char *variety; /* a longer name, if another family has the same name; else NULL */
	enum ls_family id;
	bool is_common; /* on most hosts that run any interpreter */

	/*
	 * Files. The sign is a string of all releases that hardly anything but a VM contains, and
	 * settles most files. A family without recognise() is only reported; its scripts are not
	 * profiled.
	 */
	const char *sign;
	const struct markers *markers;
	size_t marker_count;
	/*
	 * Fills in release, layouts and gc of `file`; `markers` are those that the ELF file has. 0
	 * or -ENOMEM.
	 */
	int (*recognise)(const struct elf_file *elf, const struct markers *markers,
			 struct lua_file *file);

	/* Layouts, which samples and command lines name. Slots are below LS_LAYOUT_MAX. */
	size_t offsets_size;                         /* at most LAYOUT_OFFSETS_MAX */
	const void *(*offsets)(uint32_t slot);       /* NULL: there is no such slot */
	const char *(*layout_name)(uint32_t slot);   /* "5.4.3-5.4.9"; likewise */
	int (*find_layout)(const char *name);        /* slot, by name or release; -ENOENT */
	uint16_t (*distinct_layouts)(void);          /* bits: those that a walk can tell apart */
	bool (*keeps_pc_in_register)(uint32_t slot); /* while Lua code runs, until it calls C */

	/*
	 * Derives the layout of a VM that fits no slot, from what the process has in its memory:
	 * `state` is the lua_State that a sample found. 0: `offsets` is filled; -ENODATA: it cannot
	 * be told, and `reason` says why; else as memory_ops. The worker calls it. May be missing.
	 */
	int (*calibrate)(const struct target_memory *memory, uint64_t state, void *offsets,
			 char *reason, size_t reason_size);
	/*
	 * Returns the slot of a layout that was derived, a new one unless a slot has an equal one;
	 * -ENOSPC. Missing if calibrate() is.
	 */
	int (*add_layout)(const void *offsets);

	/*
	 * BPF: the ELF file of its walker, bpf/<family>/walk_<family>.bpf.c, for Linux 6.1 and
	 * later or for older kernels; the program in it, and the array of layouts.
	 */
	const void *(*walker_file)(bool is_old, size_t *size);
	const char *walker_program;
	const char *layouts_map;

	/* Processes. NULL: functions have the names of their definitions, and no lines. */
	const struct memory_ops *memory;
	/*
	 * The name that debug.getinfo would give to frames[0] if no call instruction called it
	 * ("__gc", "hook"); frames[1], if count > 1, is its caller. NULL: none. May be missing.
	 */
	const char *(*implicit_call_name)(const void *offsets, const struct ls_frame *frames,
					  uint32_t count);

	/* Instances. NULL: luaspy dump shows no thread that does not run, and no coroutine. */
	const struct walker_ops *walker;
};

/* The first LS_FAMILY_COUNT are profiled; their index is their id. */
extern const struct family *const families[];
extern const size_t families_count;

/* A bit for each of its layouts. */
uint16_t family__layouts(const struct family *family);

/* Sets image->families to the families that the image has layouts of. */
void families__choose(struct ls_image *image);

/* The family of that id; NULL: there is none, or it is not profiled. */
const struct family *families__get(uint32_t id);

/* The name of the family that no other family has: its variety, or else its name. */
const char *families__variety(uint32_t id);

/* A layout of a family that is profiled. */
struct layout {
	const struct family *family;
	uint32_t slot;
	const void *offsets;
};

/* Sets *layout to that of a slot, or of a sample. False: there is no such layout. */
bool layout__get(uint32_t family, uint32_t slot, struct layout *layout);
bool layout__of_sample(const struct ls_sample *sample, struct layout *layout);

/* Finds a layout of any family by name or covered release. `layout` may be NULL. 0 or -ENOENT. */
int layout__find(const char *name, struct layout *layout);

#define LAYOUT_LIST_SIZE 2048

/* Writes the names of all layouts, with the separator between them, to to[LAYOUT_LIST_SIZE]. */
void layout__list(char *to, const char *separator);

#endif
