/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Roblox ScriptProfiler JSON, version 2, streamed: no second copy of the document in memory. */
#ifndef LS_WRITE_SCRIPTPROFILER_H
#define LS_WRITE_SCRIPTPROFILER_H

#include <stdio.h>

#include "profile.h"
#include "totals.h"

/*
 * `profile` is a merged one (merged_profile.h), `totals` are those of the same. Session times are
 * left out where start_ms is 0, the `Recorder` object where the recorder has no version (--strict).
 *
 * Optional fields of a function beyond the format's own:
 *   CurrentLine  the line that it is at (--lines): functions that differ in nothing else are
 *                entries, and nodes, of their own. Without: at no known line.
 *   Lines        without --lines, and not with --strict: its own time by line, as
 *                [[line, microseconds, samples], ...] in order of lines. Those durations add up to
 *                its own time less what was spent on unknown lines.
 *
 * Optional fields of the recorder, where the session was paused or told something:
 *   PausedDuration  microseconds of the wall clock; what was then is in nothing else of the file
 *   Events          [{"TimeUs": microseconds since the start, "Kind": "pause", "resume", "mark" or
 *                   "write", "Text": of a mark}, ...] in order of time
 *   EventsLeftOut   how many more there were
 *
 * And one of the document:
 *   Samples      where there are any, and not with --strict: each sample in order of time, as
 *                [node id, microseconds since the one before, thread id]; the first since
 *                SessionStartTime. The node is where its stack ended.
 *
 * 0 or -errno of the stream. Errors of the stream's buffer show at its flush: check that too.
 */
int write_scriptprofiler(const struct ls_profile *profile, const struct ls_totals *totals,
			 FILE *stream);

#endif
