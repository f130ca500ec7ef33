/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/record_conflicts.h"

#include <string.h>

#include "base/log.h"

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
	if ((record->keep || record->keep_bytes) && !record->interval_ns) {
		log_error("'%s' needs '--interval': there is one file",
			  record->keep ? "--keep" : "--keep-size");
		return OPTIONS_WRONG;
	}
	if (!record->interval_ns)
		return OPTIONS_RUN;
	for (size_t i = 0; i < record->outputs.count; i++) {
		const char *output = record->outputs.files[i].path;

		if (strcmp(output, "-") != 0 &&
		    (strncmp(output, "/dev/", 5) != 0 || !strncmp(output, "/dev/shm/", 9)))
			continue;
		log_error(
			"'--interval' excludes '--output %s' (it writes a file for each interval)",
			output);
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

static enum options_verdict check_folder(const struct record_options *record)
{
	if (!record->output_dir || !record->outputs.count)
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

enum options_verdict record_conflicts__check(const struct record_options *record, bool has_command)
{
	if (check_combination(record) != OPTIONS_RUN || check_interval(record) != OPTIONS_RUN ||
	    check_folder(record) != OPTIONS_RUN || check_summary(record) != OPTIONS_RUN ||
	    target_choice__check(&record->targets, has_command) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	return check_merge(record);
}
