/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of a profile. A script function is identified by where it is defined, not by its
 * name: callers may use any name, and the one that most of them use becomes its name.
 */
#ifndef LS_FUNCTIONS_H
#define LS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record.h"
#include "symbols/line_table.h"

struct functions;

/* NULL when out of memory. Free with functions__free(), which takes NULL. */
struct functions *functions__new(void);
void functions__free(struct functions *functions);

/* What tells one script function from another. */
struct function_identity {
	const char *source; /* as shown; copied */
	uint32_t line;
	uint32_t last_line;
	uint64_t shape; /* of its code: two functions may be defined on one line */
};

/* What tells one C function from another. */
struct c_function_identity {
	uint64_t file;    /* the same in all processes that map it; not read if `program` is set */
	uint64_t place;   /* in the file, or else the address in the program's memory */
	uint32_t program; /* functions__program(), if the function is in no file; else 0 */
	const char *name; /* if known, else its place as text; copied */
	bool is_symbol;   /* `name` is that of its code, which it may share with others */
};

/* The function's id, assigned on first use; 0 when out of memory. Strings are copied. */
uint32_t functions__script(struct functions *functions, const struct function_identity *identity);
uint32_t functions__c(struct functions *functions, const struct c_function_identity *identity);
uint32_t functions__pseudo(struct functions *functions, const char *name);
uint32_t functions__gc(struct functions *functions);
/* The pseudo function for what a VM does on its own account; its name is its source, too. */
uint32_t functions__activity(struct functions *functions, enum ls_activity activity);

/*
 * The id of a script function where it ran as machine code: an entry of its own, with the name that
 * functions__rename() gave the function, but without its votes. 0 when out of memory.
 */
uint32_t functions__native(struct functions *functions, uint32_t function);

/*
 * The id of `function` at that line: an entry of its own, without a name. Line 0: `function`
 * itself. 0 when out of memory.
 */
uint32_t functions__at_line(struct functions *functions, uint32_t function, uint32_t line);

/*
 * The id of a C function where callers call it `name`: an entry of its own, since functions that a
 * binding library makes share their code. As long as all callers agree on one name, or if the
 * function has a name of its own, that entry counts as `function`. 0 when out of memory.
 */
uint32_t functions__called(struct functions *functions, uint32_t function, const char *name);

/* A new number for the program of one process. Numbers are never reused. */
uint32_t functions__program(struct functions *functions);

/* The number of functions; the highest id. */
uint32_t functions__count(const struct functions *functions);
uint32_t functions__highest(const struct functions *functions);

/*
 * Drops the functions whose used[id] is 0, except pseudo functions; their ids are reused. If a line
 * of a function is used, or a name that callers have for it, the function is, too: its used[id] is
 * set. Returns the number dropped.
 */
uint32_t functions__evict(struct functions *functions, uint8_t *used);

/* Source of a script function, at any line; NULL: not a script function. Valid until a change. */
const char *functions__source(const struct functions *functions, uint32_t function);

/*
 * Keeps a copy of the lines of a script function's prototype, if none is kept yet. A program that
 * loads its chunks again and again has many prototypes of one function, most of which are gone
 * before their lines can be read; so have programs that end soon. There is a limit to the memory of
 * all lines, after which none are kept.
 */
void functions__keep_lines(struct functions *functions, uint32_t function,
			   const struct line_table *lines);

/* The lines that were kept; NULL: none. Valid until the function is evicted. */
const struct line_table *functions__lines(const struct functions *functions, uint32_t function);

/* Names a script function, overriding earlier names and any votes. 0 or -ENOMEM. */
int functions__rename(struct functions *functions, uint32_t function, const char *name);

/*
 * Whether this program (functions__program()) has yet to look for the definition of the script
 * function. The table remembers only the last program that looked.
 */
bool functions__awaits_definition(const struct functions *functions, uint32_t function,
				  uint32_t program);

/*
 * Takes in the name that the program found in the source text, which overrides votes; "": it found
 * none. If programs find different names, none of them counts. 0 or -ENOMEM.
 */
int functions__define(struct functions *functions, uint32_t function, uint32_t program,
		      const char *name);

/*
 * Takes in the name by which a program's bytecode defines the function, which overrides votes. A
 * different name from source text is dropped, since the text is not that of this code; but if only
 * "." and ":" differ, the name from the text stays. If bytecode has two names, of functions that
 * look alike or of programs that differ, there is none, and callers do not decide. 0 or -ENOMEM.
 */
int functions__infer(struct functions *functions, uint32_t function, const char *name);

/* Whether its definition names the function, which may be one at a line. */
bool functions__is_defined(const struct functions *functions, uint32_t function);

/* The same by its source text alone: bytecode may yet have another name for its like. */
bool functions__is_in_text(const struct functions *functions, uint32_t function);

/*
 * Gives a C function a better name, found by a process, than the one in its identity. If processes
 * disagree, it has no such name, since their calls are not told apart; but a name given by the
 * program or a module (`is_given`) overrides others. 0 or -ENOMEM.
 */
int functions__rename_c(struct functions *functions, uint32_t function, const char *name,
			bool is_given);

/*
 * Counts one caller's name for the function. The name with the most votes is shown; of hundreds of
 * names, one with more than an eighth of the votes. For a C function that has only a place, it is
 * shown beside that if all callers that have a name for it agree: "iterator of gmatch
 * (liblua5.3.so+0x293e0)". Callers that know only that it is an iterator agree with that. If
 * callers make the iterator by calls of different names, it is a "for iterator". If callers
 * disagree, functions__called() tells their functions apart. 0 or -ENOMEM.
 */
int functions__vote(struct functions *functions, uint32_t function, const char *name);

/* A name to use if no caller votes for one. 0 or -ENOMEM. */
int functions__suggest(struct functions *functions, uint32_t function, const char *name);

/*
 * Points the profile's functions at the table's own: valid until it is changed or freed. Evicted
 * functions have neither source nor name.
 */
void functions__export(struct functions *functions, struct ls_profile *profile);

#endif
