/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "record_sense.h"

#include <string.h>

#include "log.h"

/* Options that cannot both be meant, or not alone. */
static enum options_verdict check_combination(const struct record_options *record)
{
	if (record->control_ack && !record->control) {
		log_error("'--control-ack' needs '--control': there is nothing to answer");
		return OPTIONS_WRONG;
	}
	if (!record->strict || (!record->lines && !record->timeline))
		return OPTIONS_RUN;
	log_error("'--strict' excludes '%s' (%s is a field of luaspy's own)",
		  record->lines ? "--lines" : "--timeline",
		  record->lines ? "CurrentLine" : "Samples");
	return OPTIONS_WRONG;
}

/* Files of intervals have names of their own, which only a path of a file can give. */
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
	log_error("'--output-dir' excludes '--output' (files are called after their processes)");
	return OPTIONS_WRONG;
}

/*
 * A group of processes has no threads or VMs of its own to be told apart by, unless it has a file
 * of its own: then one says which are one file, and the other what is in it.
 */
static enum options_verdict check_merge(const struct record_options *record)
{
	if (record->targets.merge_by == GROUPING_NONE || record->category == CATEGORY_PROCESS ||
	    record->output_dir)
		return OPTIONS_RUN;
	log_error("'--merge-by' excludes '--category' but for process (it says which processes "
		  "are one)");
	return OPTIONS_WRONG;
}

enum options_verdict record_sense__check(const struct record_options *record, bool has_command)
{
	if (check_combination(record) != OPTIONS_RUN || check_interval(record) != OPTIONS_RUN ||
	    check_folder(record) != OPTIONS_RUN ||
	    target_choice__check(&record->targets, has_command) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	return check_merge(record);
}
