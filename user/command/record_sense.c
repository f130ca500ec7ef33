/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "record_sense.h"

#include <string.h>

#include "log.h"

bool record_sense__is_of_many(const struct record_options *record)
{
	return record->pid_count > 1 || record->children || record->system;
}

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

static enum options_verdict check_merge(const struct record_options *record)
{
	if (record->merge_by == GROUPING_NONE)
		return OPTIONS_RUN;
	if (!record_sense__is_of_many(record)) {
		log_error("'--merge-by' needs several processes ('--system', '--children' or a "
			  "list of '--pid')");
		return OPTIONS_WRONG;
	}
	/* Then it says which are one file, and the other what is in it. */
	if (record->category == CATEGORY_PROCESS || record->output_dir)
		return OPTIONS_RUN;
	log_error("'--merge-by' excludes '--category' but for process (it says which processes "
		  "are one)");
	return OPTIONS_WRONG;
}

/* --system, which stands alone; or what it alone makes sense with. */
static enum options_verdict check_system(const struct record_options *record, bool has_command)
{
	bool is_wish = record->wish.name || record->wish.user || record->wish.cgroup;

	if (is_wish && !record->system) {
		log_error("'--name', '--user' and '--cgroup' need '--system': they choose among "
			  "its processes");
		return OPTIONS_WRONG;
	}
	if (!record->system)
		return OPTIONS_RUN;
	if (record->pid_count || record->children || has_command) {
		log_error("'--system' excludes '%s' (it records all processes that run Lua)",
			  record->pid_count  ? "--pid"
			  : record->children ? "--children"
					     : "COMMAND");
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

enum options_verdict record_sense__check(const struct record_options *record, bool has_command)
{
	if (check_combination(record) != OPTIONS_RUN || check_interval(record) != OPTIONS_RUN ||
	    check_folder(record) != OPTIONS_RUN || check_merge(record) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	return check_system(record, has_command);
}
