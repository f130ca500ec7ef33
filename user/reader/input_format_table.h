/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats of recordings that luaspy reads, one row each: X(name, title). A row and a file
 * read_NAME.c, which defines is_NAME() and read_NAME(), are all that a format consists of. What
 * commands say in their help is INPUT_FORMAT_HELP (input_format.h).
 *
 * Formats are recognised by the file's content, in the table's order: folded stacks, which may be
 * any text, come last.
 */
#ifndef LS_INPUT_FORMAT_TABLE_H
#define LS_INPUT_FORMAT_TABLE_H

#define LS_INPUT_FORMATS(X)                                                                        \
	X(scriptprofiler, "ScriptProfiler JSON of version 2 or 1")                                 \
	X(cpuprofile, "V8 .cpuprofile")                                                            \
	X(pprof, "pprof profile.proto")                                                            \
	X(folded, "folded stacks")

#endif
