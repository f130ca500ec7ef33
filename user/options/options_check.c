/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_check.h"

#include <string.h>
#include <strings.h>

#include "base/log.h"

/* What other profilers write under such names. */
static const char *const foreign_endings[] = {
	".svg",   ".html",      ".speedscope.json", ".cpuprofile", ".pb.gz",
	".pb",    ".folded",    ".collapsed",       ".txt",        ".perf",
	".trace", ".callgrind", ".gprof",           ".lua",
};

static bool is_foreign(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(foreign_endings) / sizeof(foreign_endings[0]); i++) {
		size_t ending = strlen(foreign_endings[i]);

		if (length >= ending && !strcasecmp(name + length - ending, foreign_endings[i]))
			return true;
	}
	return !strcmp(name, "callgrind.out") || !strncmp(name, "callgrind.out.", 14);
}

/* A file must not be called what it is not. */
static enum options_verdict check_ending(const struct record_options *record)
{
	if (!record->output || !is_foreign(record->output))
		return OPTIONS_RUN;
	log_error("cannot write '%s': luaspy does not have the format of that name (accepted: "
		  "ScriptProfiler v2 JSON, a name that ends in .json)",
		  record->output);
	return OPTIONS_WRONG;
}

/* Checks options that exclude or require each other. */
static enum options_verdict check_combination(const struct record_options *record)
{
	if (record->control_ack && !record->control) {
		log_error("'--control-ack' needs '--control': there is nothing to answer");
		return OPTIONS_WRONG;
	}
	if (!record->strict || (!record->lines && !record->timeline))
		return OPTIONS_RUN;
	log_error("'--strict' excludes '%s' (%s is luaspy's own field)",
		  record->lines ? "--lines" : "--timeline",
		  record->lines ? "CurrentLine" : "Samples");
	return OPTIONS_WRONG;
}

/* Interval files are named after the output path, which must be that of a file. */
static enum options_verdict check_interval(const struct record_options *record)
{
	const char *output = record->output ? record->output : "";

	if ((record->keep || record->keep_bytes) && !record->interval_ns) {
		log_error("'%s' needs '--interval': there is one file",
			  record->keep ? "--keep" : "--keep-size");
		return OPTIONS_WRONG;
	}
	if (!record->interval_ns)
		return OPTIONS_RUN;
	if (!strcmp(output, "-") ||
	    (!strncmp(output, "/dev/", 5) && strncmp(output, "/dev/shm/", 9))) {
		log_error(
			"'--interval' excludes '--output %s' (it writes a file for each interval)",
			output);
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

static enum options_verdict check_folder(const struct record_options *record)
{
	if (!record->output_dir || !record->output)
		return OPTIONS_RUN;
	log_error("'--output-dir' excludes '--output' (files are named after their processes)");
	return OPTIONS_WRONG;
}

/*
 * --merge-by makes several processes one category, which leaves no categories for threads or VMs.
 * With --output-dir both options apply: --merge-by chooses the processes of a file, --category
 * divides the file.
 */
static enum options_verdict check_merge(const struct record_options *record)
{
	if (record->targets.merge_by == GROUPING_NONE || record->category == CATEGORY_PROCESS ||
	    record->output_dir)
		return OPTIONS_RUN;
	log_error("'--merge-by' excludes every '--category' but process (it combines processes)");
	return OPTIONS_WRONG;
}

/* Both are parts of the summary. */
static enum options_verdict check_summary(const struct record_options *record)
{
	const char *option = record->callers ? "--callers" : "--tree";

	if (!record->callers && !record->tree_depth)
		return OPTIONS_RUN;
	if (record->log_level < LOG_INFO) {
		log_error("'--quiet' excludes '%s' (it prints no summary)", option);
		return OPTIONS_WRONG;
	}
	if (record->interval_ns) {
		log_error("'--interval' excludes '%s' (there is no summary)", option);
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

enum options_verdict options_check__record(const struct record_options *record, bool has_command)
{
	if (check_ending(record) != OPTIONS_RUN || check_combination(record) != OPTIONS_RUN ||
	    check_interval(record) != OPTIONS_RUN || check_folder(record) != OPTIONS_RUN ||
	    check_summary(record) != OPTIONS_RUN ||
	    target_choice__check(&record->targets, has_command) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	return check_merge(record);
}
