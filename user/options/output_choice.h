/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which files are to be written, and in which formats: '--output' and '--format'. */
#ifndef LS_OUTPUT_CHOICE_H
#define LS_OUTPUT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "format/format.h"

#define OUTPUT_CHOICE_MAX 16

/* Lines of help, behind those of '--output'. */
#define OUTPUT_CHOICE_HELP                                                                         \
	"  -f, --format=NAME      the format (listed below) of each file whose ending\n"           \
	"                         does not name another, as with '-o -' (default:\n"               \
	"                         scriptprofiler)\n"

/* For usage_option.value of '--output'. */
#define OUTPUT_CHOICE_OUTPUT "a file name, or - for standard output"

struct output_choice {
	struct {
		const char *path; /* "-": standard output */
		const struct format *format;
	} files[OUTPUT_CHOICE_MAX];
	size_t count;
	const struct format *format; /* '--format'; NULL: not given */
};

/* Adds a value of '--output'. 0; -EINVAL: empty; -E2BIG. */
int output_choice__add(struct output_choice *choice, const char *path);

/* Takes a value of '--format'. 0, or -EINVAL: no format has that name. */
int output_choice__set_format(struct output_choice *choice, const char *name);

/*
 * Decides the format of each file, once all options are known. False after reporting why: an ending
 * is not known, a file is given twice, or '--format' decides nothing and an ending is another's.
 */
bool output_choice__decide(struct output_choice *choice);

/* Makes `path`, of a file that luaspy names, the only file: in the default format. */
void output_choice__name(struct output_choice *choice, const char *path);

/* The format of files that luaspy names. */
const struct format *output_choice__default(const struct output_choice *choice);

/* The first format that needs the order of samples; NULL: none does. */
const struct format *output_choice__ordered(const struct output_choice *choice);

/* Report a value that the first two refused. */
void output_choice__refuse_format(const char *name);
void output_choice__refuse_more(const char *path);

/*
 * Print to standard output and flush it: a help text with a section about the formats, or only
 * their names, one a line. False after reporting that this failed.
 */
bool output_choice__print_help(const char *before, const char *after);
bool output_choice__print_names(void);

#endif
