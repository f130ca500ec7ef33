/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The requests about targets that luaspy sends through an inspector. worker/inspector.h says how
 * they fail. Answers are validated.
 */
#ifndef LS_INSPECTION_H
#define LS_INSPECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/family.h"
#include "interpreter/interpreters.h"
#include "process/command_line.h"
#include "process/container.h"
#include "source/definitions.h"
#include "symbols/c_function_names.h"
#include "symbols/call_site.h"
#include "symbols/line_table.h"
#include "symbols/nested_definitions.h"
#include "worker/inspector.h"

/* The job of an inspector's worker. */
extern const struct worker_job inspection_job;

/* As interpreters__find(). */
int inspector__interpreters(struct inspector *inspector, pid_t pid, struct interpreters *found);

/* How long a process may take to execute or load a Lua after the user asked for it. */
#define INTERPRETERS_PATIENCE_NS UINT64_C(1000000000)

/*
 * A process that was just started may still be the shell that is about to execute Lua, or may not
 * have loaded the library yet. Waits until it holds a Lua of any kind, has ended or cannot be read,
 * or until `until_ns` (CLOCK_MONOTONIC). Looks at least once and logs nothing.
 */
void inspector__await_interpreters(struct inspector *inspector, pid_t pid, uint64_t until_ns);

/*
 * Whether a file that the process mapped, according to a record of the kernel, contains a VM that
 * is profiled. *unsupported: the family of one that is recognised but not profiled; NULL: none.
 */
struct mapped_file_place {
	uint64_t start, end;
	uint64_t device, inode;
};
int inspector__holds_lua(struct inspector *inspector, pid_t pid,
			 const struct mapped_file_place *place, bool *holds_lua,
			 const struct family **unsupported);

/* Reads and keeps, while the process lives, what inspector__native_place() needs later. */
int inspector__prepare(struct inspector *inspector, pid_t pid);

#define NATIVE_PATH_SIZE   256
#define NATIVE_SYMBOL_SIZE 4096

/* The file that machine code comes from, and the name of that code. */
struct native_place {
	bool is_mapped;       /* from a file; else `place` is the address and the rest is not set */
	uint64_t file, place; /* as native_names__place() has them */
	char name[NATIVE_PATH_SIZE];     /* of the file, without its folders */
	char symbol[NATIVE_SYMBOL_SIZE]; /* "": none */
};
int inspector__native_place(struct inspector *inspector, pid_t pid, uint64_t address,
			    struct native_place *place);

/* One question about a prototype, and its answer. */
enum inquiry_subject {
	INQUIRY_LINES,
	INQUIRY_CALL,   /* the call at `pc` */
	INQUIRY_NESTED, /* the functions that it defines */
	INQUIRY_KEPT,   /* the same, of a prototype that was not sampled: it has no fingerprint */
};

struct prototype_inquiry {
	struct prototype_key key;
	enum inquiry_subject subject;
	uint32_t pc;
	int error;                /* 0; -ESTALE: another prototype is there now; other -errno */
	struct line_table *lines; /* NULL: it was stripped of them; owned by the caller */
	struct call_site site;
	struct nested_definitions nested; /* its items are owned by the caller */
};

#define PROTOTYPE_INQUIRIES_MAX 16

/*
 * Sends all inquiries in one request, because a round trip costs more than the reading. If the
 * request fails, its error is set in each inquiry.
 */
int inspector__prototypes(struct inspector *inspector, pid_t pid, const struct layout *layout,
			  struct prototype_inquiry *inquiries, size_t count);

/* As memory_ops.check_prototype() of the family. */
int inspector__check_prototype(struct inspector *inspector, pid_t pid, const struct layout *layout,
			       const struct prototype_key *key);

#define CALIBRATION_REASON_SIZE 160

/* A layout that was derived from the memory of a process, or why none was. */
struct calibrated {
	_Alignas(8) uint8_t offsets[LAYOUT_OFFSETS_MAX];
	char reason[CALIBRATION_REASON_SIZE];
};

/* As calibrate() of the family, which has it. -ENODATA: only calibrated->reason is set. */
int inspector__calibrate(struct inspector *inspector, pid_t pid, const struct family *family,
			 uint64_t state, struct calibrated *calibrated);

/* A script function, for the question what its definition calls it. */
struct definition_inquiry {
	const char *file; /* that its chunk was loaded from; NULL: the chunk was loaded from text */
	const struct prototype_key *key; /* read if there is no file */
	uint32_t first, last;            /* lines */
};

/*
 * Writes the name by which the source text defines the function: "M.run"; "": none. An error is
 * that of the search for the text (sources.h); -ENOTSUP: source text is not read.
 */
int inspector__definition(struct inspector *inspector, pid_t pid, const struct layout *layout,
			  const struct definition_inquiry *inquiry,
			  char name[DEFINITION_NAME_SIZE]);

/* Adds the names that the tables of the VM have now: c_functions__read(). */
int inspector__c_functions(struct inspector *inspector, pid_t pid, const struct layout *layout,
			   uint64_t state, struct c_function_names *names);

/* As command_line__read(); -ENOTSUP: command lines are not read. */
int inspector__command_line(struct inspector *inspector, pid_t pid, struct command_line *line);

/*
 * As command_line__label(), which is `name` if the command line is not to be had. 0; -EAGAIN: it is
 * for now, so ask again later.
 */
int inspector__label(struct inspector *inspector, pid_t pid, const char *name,
		     char label[COMMAND_LINE_LABEL_SIZE]);

/* "lua5.4 app.lua (pid 42)": container__title() with that label, or what is to be had of it. */
void inspector__title(struct inspector *inspector, pid_t pid, const char *name,
		      char title[CONTAINER_TITLE_SIZE]);

/* The process has ended: drops what inspector__prepare() kept, and its budgets. */
void inspector__forget(struct inspector *inspector, pid_t pid);

#endif
