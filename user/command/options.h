/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line: commands, their options, their help. */
#ifndef LS_OPTIONS_H
#define LS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "category.h"
#include "listing.h"
#include "log.h"
#include "target_choice.h"
#include "view.h"

enum command { COMMAND_RECORD, COMMAND_CHECK, COMMAND_DUMP, COMMAND_TOP };

/* What --max-overhead is with --system where nobody says. */
#define OVERHEAD_SYSTEM_PPM  10000
#define OVERHEAD_SYSTEM_TEXT "1%"

struct record_options {
	struct target_choice targets;
	uint64_t duration_ns;      /* 0: until Ctrl-C or the target's end */
	uint64_t period_ns;        /* 1 s to 50 us: 1 Hz to 20 kHz */
	uint32_t max_depth;        /* 1 to LS_DEPTH_MAX */
	uint32_t max_overhead_ppm; /* of the targets' CPU time; 0: no limit */
	bool has_max_overhead;     /* it was asked for */
	bool lines;                /* functions are told apart by the line that they are at */
	const char
		*output; /* NULL: NAME-PID-DATE.json in the current folder; "-": standard output */
	const char *output_dir; /* a folder for a file of each process instead; NULL: one file */
	enum log_level log_level;
	const char *layout; /* the name of one in layouts_puc[]; NULL: what samples decide on */
	char *const *words; /* a command to start and profile, ended by NULL; NULL: `targets` */
	enum category_kind category;
	bool has_category;       /* it was asked for */
	bool is_paused;          /* until it is told to go on */
	const char *control;     /* a FIFO to be told by; NULL: none */
	const char *control_ack; /* another, to say what was done; NULL: none */
	bool waits;              /* for Lua, where there is none yet */
	struct view_options view;
	uint64_t start_after_ns; /* 0: sample at once */
	uint32_t until_samples;  /* with script; 0: no matter how many */
	uint64_t interval_ns;    /* a file for each; 0: one file */
	uint32_t keep;           /* of these files the newest; 0: all */
	uint64_t keep_bytes;     /* likewise, as many as hold no more; 0: all */
	bool timeline;
	bool strict; /* no fields beyond the format's own */
};

struct check_options {
	pid_t pid; /* 0: none */
	enum log_level log_level;
};

struct dump_command_options {
	pid_t pid;
	const char *layout; /* as in record_options */
	bool all;           /* coroutines that are suspended, too */
	bool json;
};

struct top_options {
	struct target_choice targets;
	uint64_t period_ns; /* these five as in record_options */
	uint32_t max_overhead_ppm;
	uint32_t max_depth;
	const char *layout;
	bool waits;
	enum listing_column sort; /* at first */
};

struct options {
	enum command command;
	struct top_options top;
	struct dump_command_options dump;
	struct check_options check;
	struct record_options record;
};

enum options_verdict {
	OPTIONS_RUN,    /* do what *options says */
	OPTIONS_DONE,   /* --help or --version was printed, all of it: exit 0 */
	OPTIONS_FAILED, /* it could not be printed, and one line said so: exit 1 */
	OPTIONS_WRONG,  /* one line said which option or value, and what is accepted: exit 2 */
};

/*
 * Fills *options, with defaults for what is not given; of an option given twice the last counts.
 * Strings in it point into argv. Help and version go to standard output, which is flushed.
 */
enum options_verdict options__parse(int argc, char **argv, struct options *options);

#endif
