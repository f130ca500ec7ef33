/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats, one row each: X(name, title, use, what it needs, endings...). A row and a file
 * write_NAME.c are all that a format consists of: options, help, completion, the default names of
 * files and the tables in README.md and user/share/doc/recipes.md follow from the row.
 *
 * name     as --format takes it, and what follows "write_" in its writer's name
 * title    what the file is
 * use      what opens it, for the line that record prints at its end
 * needs    FORMAT_NEEDS_NOTHING, or FORMAT_NEEDS_ORDER: the order of samples in time
 * endings  of file names, the preferred one first. The longest that fits a name counts. With
 *          --format, a name may also have just the last part of one: ".json"
 */
#ifndef LS_FORMAT_TABLE_H
#define LS_FORMAT_TABLE_H

/* The first row is the default. */
#define LS_FORMATS(X)                                                                              \
	X(scriptprofiler, "ScriptProfiler v2 JSON",                                                \
	  "luaspy open shows it, luaspy report prints it", FORMAT_NEEDS_NOTHING, ".json")          \
	X(folded, "folded stacks in microseconds", "flamelens and inferno-flamegraph read it",     \
	  FORMAT_NEEDS_NOTHING, ".folded", ".txt", ".collapsed")                                   \
	X(html, "page with flame graph and tables", "any browser opens it", FORMAT_NEEDS_NOTHING,  \
	  ".html", ".htm")                                                                         \
	X(flamegraph, "flame graph in SVG", "any browser opens it", FORMAT_NEEDS_NOTHING, ".svg")  \
	X(speedscope, "speedscope JSON", "speedscope.app opens it", FORMAT_NEEDS_NOTHING,          \
	  ".speedscope.json", ".speedscope")                                                       \
	X(cpuprofile, "V8 CPU profile", "Chrome's DevTools and VS Code open it",                   \
	  FORMAT_NEEDS_ORDER, ".cpuprofile", ".cpuprofile.json")                                   \
	X(firefox, "Firefox Profiler JSON", "profiler.firefox.com opens it", FORMAT_NEEDS_ORDER,   \
	  ".firefox.json")                                                                         \
	X(devtools, "trace of Chrome's DevTools", "Chrome's DevTools loads it, in Performance",    \
	  FORMAT_NEEDS_ORDER, ".devtools.json", ".devtools")                                       \
	X(trace, "Trace Event JSON", "ui.perfetto.dev opens it", FORMAT_NEEDS_ORDER,               \
	  ".trace.json", ".trace")                                                                 \
	X(perf, "text of perf script", "inferno-collapse-perf and profiler.firefox.com read it",   \
	  FORMAT_NEEDS_ORDER, ".perf")                                                             \
	X(pprof, "pprof profile.proto", "go tool pprof -http=: opens it", FORMAT_NEEDS_NOTHING,    \
	  ".pb.gz", ".pprof")                                                                      \
	X(callgrind, "Callgrind call graph", "kcachegrind and callgrind_annotate open it",         \
	  FORMAT_NEEDS_NOTHING, ".callgrind")                                                      \
	X(gprof, "call-graph report of gprof", "any pager shows it, gprof2dot draws it",           \
	  FORMAT_NEEDS_NOTHING, ".gprof")                                                          \
	X(lua, "table of Lua", "dofile() of any Lua loads it", FORMAT_NEEDS_NOTHING, ".lua")

#endif
