/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line: commands, their options, their help. */
#ifndef LS_OPTIONS_H
#define LS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "options/output_choice.h"
#include "options/target_choice.h"
#include "profile/view.h"
#include "recording/category.h"
#include "report/report.h"
#include "sampler/sampling.h"
#include "top/listing.h"

enum command {
	COMMAND_RECORD,
	COMMAND_CHECK,
	COMMAND_DUMP,
	COMMAND_TOP,
	COMMAND_LIST,
	COMMAND_CONVERT,
	COMMAND_REPORT,
	COMMAND_OPEN,
	COMMAND_MERGE,
	COMMAND_TRIM,
	COMMAND_DIFF,
};

/* The default of --max-overhead with --system. */
#define OVERHEAD_SYSTEM_PPM  10000
#define OVERHEAD_SYSTEM_TEXT "1%"

struct record_options {
	struct target_choice targets;
	uint64_t duration_ns; /* 0: until Ctrl-C or the target ends */
	struct sampling sampling;
	bool has_max_overhead; /* given as an option */
	bool lines;            /* distinguish functions by their current line */
	/* None: NAME-PID-DATE.json in the current folder, or with the ending of '--format'. */
	struct output_choice outputs;
	const char *output_dir; /* folder for one file per process; NULL: one file */
	enum log_level log_level;
	char *const *words; /* command to start and profile, NULL-terminated; NULL: `targets` */
	enum category_kind category;
	bool has_category;       /* given as an option */
	bool is_paused;          /* start paused, until told to resume */
	const char *control;     /* FIFO to read commands from; NULL: none */
	const char *control_ack; /* FIFO for acknowledgements; NULL: none */
	struct view_options view;
	uint64_t start_after_ns; /* 0: start sampling immediately */
	uint32_t until_samples;  /* samples with script; 0: no limit */
	uint64_t interval_ns;    /* one file per interval; 0: one file */
	uint32_t keep;           /* files of the newest intervals to keep; 0: all */
	uint64_t keep_bytes;     /* likewise, their total size in bytes; 0: all */
	mode_t mode;             /* of files; 0: output_file__open()'s default */
	bool timeline;
	bool strict;         /* no fields beyond the format's own */
	uint32_t tree_depth; /* of the call tree in the summary, 1 to 512; 0: none */
	const char *callers; /* function to show the callers of in the summary; NULL: none */
};

struct check_options {
	pid_t pid;                        /* 0: none */
	struct process_criteria criteria; /* finds it by name; all NULL: `pid` */
	bool no_command_lines;            /* as in target_choice.h */
	enum log_level log_level;
};

struct dump_command_options {
	pid_t pid;                        /* 0: `criteria` finds it */
	struct process_criteria criteria; /* finds it by name */
	const char *layout;               /* as in target_choice */
	bool all;                         /* suspended coroutines, too */
	bool json;
	bool no_source;        /* as in target_choice */
	bool no_command_lines; /* likewise */
};

struct list_options {
	bool json;
	bool no_command_lines; /* as in target_choice.h */
};

struct convert_options {
	const char *input; /* "-": standard input */
	struct output_choice outputs;
	mode_t mode; /* as in record_options */
};

struct report_options {
	char *const *files; /* "-": standard input */
	size_t file_count;
	/* As in struct report. */
	enum report_view view;
	enum row_order order;
	bool has_order; /* given as an option */
	uint32_t limit;
	uint32_t least_ppm;
	bool has_least; /* likewise */
	struct selection selection;
	const char *search;
	bool no_source;
	uint32_t average_s; /* 0: times are sums */
	bool json;
};

struct open_options {
	const char *file; /* "-": standard input */
	bool no_browser;  /* make the page only */
	bool no_source;   /* without source text */
};

struct merge_options {
	char *const *inputs; /* "-": standard input */
	size_t input_count;
	bool together; /* categories of one name become one */
	struct output_choice outputs;
	mode_t mode; /* as in record_options */
};

struct trim_options {
	const char *input;    /* "-": standard input */
	bool has_from;        /* given as an option */
	uint64_t from_ns;     /* since the start of the recording */
	uint64_t to_ns;       /* 0: to its end */
	const char *marks[2]; /* texts of marks, instead; NULL: not given */
	struct output_choice outputs;
	mode_t mode; /* as in record_options */
};

struct diff_options {
	char *const *inputs; /* those before, then those after */
	size_t input_count, before_count;
	const char *output; /* file for the flame graph; NULL: none */
	mode_t mode;        /* as in record_options */
	bool json;
	bool by_time;           /* compares CPU time, not shares of it */
	bool has_fail_over;     /* given as an option */
	uint32_t fail_over_ppm; /* of the CPU time */
	bool has_noise;         /* given as an option */
	uint32_t noise_ppm;     /* by how much a function differs from run to run, at least */
	uint32_t confidence_ppm;
	uint32_t limit; /* rows of a table */
};

struct top_options {
	struct target_choice targets;
	char *const *words; /* as in record_options */
	struct sampling sampling;
	enum listing_column sort; /* initial sort column */
	struct view_options view; /* plugins alone */
	unsigned hidden;          /* at first: enum stats_hidden */
	uint32_t average_s;       /* at first: as in struct listing */
};

struct options {
	enum command command;
	struct top_options top;
	struct list_options list;
	struct dump_command_options dump;
	struct check_options check;
	struct record_options record;
	struct convert_options convert;
	struct report_options report;
	struct open_options open;
	struct merge_options merge;
	struct trim_options trim;
	struct diff_options diff;
};

enum options_verdict {
	OPTIONS_RUN,    /* do what *options says */
	OPTIONS_DONE,   /* --help or --version was printed in full: exit 0 */
	OPTIONS_FAILED, /* it could not be printed, which one line reported: exit 1 */
	OPTIONS_WRONG,  /* one line reported the bad option or value and what is accepted: exit 2 */
};

/*
 * Fills *options, with defaults for options that are not given. The last of a repeated option wins,
 * but patterns add up. Strings in it point into argv. Help and version go to standard output, which
 * is flushed.
 */
enum options_verdict options__parse(int argc, char **argv, struct options *options);

#endif
