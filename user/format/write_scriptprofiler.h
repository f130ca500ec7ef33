/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Roblox ScriptProfiler JSON, version 2, streamed: no second copy of the document in memory. */
#ifndef LS_WRITE_SCRIPTPROFILER_H
#define LS_WRITE_SCRIPTPROFILER_H

#include "format/format.h"

/*
 * A format_writer(). Session times are left out if start_ms is 0, and the `Recorder` object if the
 * recorder has no version (--strict).
 *
 * Optional field of a node, not with --strict:
 *   Samples      how many samples ended there, if any did
 *
 * Optional fields of a function beyond the format's own:
 *   CurrentLine  the line being executed (--lines): a function has separate entries, and nodes, for
 *                each such line. Missing if the line is not known.
 *   Lines        with neither --lines nor --strict: its self time by line, as
 *                [[line, microseconds, samples], ...] in order of lines. Those durations add up to
 *                its self time less what was spent on unknown lines.
 *
 * Optional fields of the recorder, if the session was paused or has other events:
 *   PausedDuration  microseconds of wall clock time; nothing else in the file is from that time
 *   Events          [{"TimeUs": microseconds since the start, "Kind": "pause", "resume", "mark",
 *                   "write" or "frequency", "Text": a mark's text or the new frequency}, ...] in
 *                   order of time
 *   EventsLeftOut   how many more there were
 *
 * Optional field of the recorder, if some script was compiled (see profile/script_split.h):
 *   ScriptDuration  {"Interpreted": microseconds, "Compiled": of script as machine code, "C": in C
 *                   functions, "GC": in the garbage collector, "Compiler": while compiling,
 *                   "TraceExit": while leaving machine code}: together exactly the self time of
 *                   all functions with a Source. The time of collectors that were not found
 *                   (CollectorUnknown) is in what they interrupted.
 *
 * Optional fields of the document:
 *   Samples      if there are any, and not with --strict: each sample in order of time, as
 *                [node id, microseconds since the one before, thread id]; for the first, since
 *                SessionStartTime. The node is where its stack ended.
 *   Sources      the text of some lines, in pages of luaspy open: [{"Source": as of functions,
 *                "Lines": [[line, text], ...]}, ...]
 */
format_writer write_scriptprofiler;

#endif
