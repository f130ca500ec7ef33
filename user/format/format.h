/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The formats that profiles are written in, and which one a file name asks for. */
#ifndef LS_FORMAT_H
#define LS_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "format/format_table.h"
#include "profile/profile.h"
#include "profile/totals.h"

#define FORMAT_ENDINGS_MAX 4

enum format_needs {
	FORMAT_NEEDS_NOTHING,
	FORMAT_NEEDS_ORDER, /* ls_profile.samples */
};

/*
 * Writes a profile with at most one child per function and node, such as merged_profile.h makes,
 * and its totals. 0 or -errno of the stream. Some errors only appear when the stream's buffer is
 * flushed: check that, too.
 */
typedef int format_writer(const struct ls_profile *profile, const struct ls_totals *totals,
			  FILE *stream);

struct format {
	const char *name, *title, *use; /* see format_table.h */
	enum format_needs needs;
	const char *endings[FORMAT_ENDINGS_MAX + 1]; /* ".json"; ends with NULL */
	format_writer *write;
};

/* write_scriptprofiler() and so on, one for each row. */
#define X(name, ...) format_writer write_##name;
LS_FORMATS(X)
#undef X

/* By index from 0, in the table's order; the first is the default. NULL: there are no more. */
const struct format *format__at(size_t index);

/* NULL: there is no format of that name. */
const struct format *format__by_name(const char *name);

/*
 * The format that the name of the file at `path` asks for by its ending, whatever its case. A name
 * with no ending, a descriptor or a device (/dev/...), and "-" ask for none: *format is then NULL.
 * 0; -EINVAL: it has an ending that no format has; *format is NULL, too.
 */
int format__of_path(const char *path, const struct format **format);

/*
 * Whether a file may be called `path` if the user asks for this format by name: the last part of
 * one of its endings suffices, as it tells the syntax, so "a.json" may be speedscope's.
 */
bool format__has_syntax_of(const struct format *format, const char *path);

/* The length of `path` without its ending, be that a format's or not: "a.pb.gz" is 1. */
size_t format__stem_length(const char *path);

/*
 * Lists all formats: "NAME (.ending, .ending), ...". Truncated if `size` is too small; always
 * NUL-terminated. Returns `to`.
 */
#define FORMAT_LIST_SIZE 1024
char *format__list(char *to, size_t size);

#endif
