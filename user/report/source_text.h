/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a source file that a recording names, read with the user's rights (user_rights.h),
 * never with root's under sudo: the recording, which may be a stranger's, chooses the name.
 */
#ifndef LS_SOURCE_TEXT_H
#define LS_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define SOURCE_TEXT_MOST (8U << 20) /* bytes, as of source_file.h */

/* Where relative names may be, after the current folder: those of the recordings. */
struct source_folders {
	const char *const *recordings; /* their paths; "-" is none */
	size_t count;
	uint64_t recorded_ms; /* Unix time: files that changed later are refused; 0: not known */
};

struct source_text;

/*
 * 0; -ESTALE: the file has changed since; -ENOEXEC: not a regular file; -EFBIG; -ENOENT: there is
 * none, or the chunk is no file; other -errno. *text is then NULL.
 */
int source_text__open(const char *name, const struct source_folders *folders,
		      struct source_text **text);
void source_text__close(struct source_text *text);

/*
 * Formats line `line`, from 1, escaped and with tabs as blanks, into `to`; its end is cut off if
 * `size` is too small. NULL: the text has no such line.
 */
char *source_text__format_line(const struct source_text *text, uint32_t line, char *to,
			       size_t size);

#endif
