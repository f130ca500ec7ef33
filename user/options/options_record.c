/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_live.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "interpreter/family.h"
#include "options/options_record_help.h"
#include "options/record_conflicts.h"
#include "options/usage.h"
#include "profile/patterns.h"
#include "profile/plugin_presets.h"
#include "record.h"

#define QUOTE(token)     #token
#define TEXT(macro)      QUOTE(macro)
#define DEPTH_MAX_TEXT   TEXT(LS_DEPTH_MAX)
#define FUNCTION_TEXT    "a function's name, its chunk, CHUNK:NAME or CHUNK:LINE, or a pattern of it"
#define CALLERS_TEXT     "a function's name, or CHUNK:LINE of its definition"
#define TIME_TEXT        "a time such as 500ms, 30, 1.5s, 5m or 1h, up to 365 days"
#define SAMPLES_MAX      1000000000
#define SAMPLES_MAX_TEXT TEXT(SAMPLES_MAX)
#define KEEP_MAX         1000000
#define KEEP_MAX_TEXT    TEXT(KEEP_MAX)
#define TREE_MAX_TEXT    TEXT(RECORD_TREE_MAX)
#define INTERVAL_MIN     (NS_PER_S / 10)
#define FIFO_TEXT        "the name of a FIFO, which need not exist"
#define GLOB_TEXT        "a pattern such as '*/plugins/*'"
#define NS_PER_S         UINT64_C(1000000000)

enum {
	OPTION_MAX_DEPTH = 256, /* no letter */
	OPTION_LAYOUT,
	OPTION_WAIT,
	OPTION_LINES,
	OPTION_NO_SOURCE,
	OPTION_CATEGORY,
	OPTION_PLUGIN,
	OPTION_PLUGIN_PRESET,
	OPTION_IGNORE,
	OPTION_STRICT,
	OPTION_TIMELINE,
	OPTION_COROUTINE,
	OPTION_START_AFTER,
	OPTION_UNTIL_SAMPLES,
	OPTION_PAUSED,
	OPTION_CONTROL,
	OPTION_CONTROL_ACK,
	OPTION_OUTPUT_DIR,
	OPTION_INTERVAL,
	OPTION_KEEP,
	OPTION_KEEP_SIZE,
	OPTION_MODE,
	OPTION_MAX_OVERHEAD,
	OPTION_CALLERS,
	OPTION_TREE = USAGE_VALUE_OPTIONAL,
};

static const struct usage_option accepted[] = {
	TARGET_CHOICE_OPTIONS,
	{'d', "--duration", TIME_TEXT},
	{OPTION_START_AFTER, "--start-after", TIME_TEXT},
	{OPTION_UNTIL_SAMPLES, "--until-samples", "a number of samples, 1 to " SAMPLES_MAX_TEXT},
	{'F', "--frequency", "1 to 20000 Hz, such as 1000, 250hz or 10khz"},
	{'r', "--rate", "1 to 20000 Hz, such as 1000, 250hz or 10khz"},
	{OPTION_PAUSED, "--paused", NULL},
	{OPTION_CONTROL, "--control", FIFO_TEXT},
	{OPTION_CONTROL_ACK, "--control-ack", FIFO_TEXT},
	{OPTION_MAX_OVERHEAD, "--max-overhead", "0.01 to 100%, such as 0.5%, or none"},
	{OPTION_MAX_DEPTH, "--max-depth", "a number of frames, 1 to " DEPTH_MAX_TEXT},
	{OPTION_LAYOUT, "--layout", "a release such as 5.4.6, or help, which lists them"},
	{OPTION_WAIT, "--wait", NULL},
	{OPTION_LINES, "--lines", NULL},
	{OPTION_NO_SOURCE, "--no-source", NULL},
	{OPTION_CATEGORY, "--category", "thread, process, state or chunk"},
	TARGET_CHOICE_MERGING,
	{OPTION_PLUGIN, "--plugin", GLOB_TEXT},
	{OPTION_PLUGIN_PRESET, "--plugin-preset", PLUGIN_PRESETS_TEXT},
	{OPTION_IGNORE, "--ignore", FUNCTION_TEXT},
	{OPTION_COROUTINE, "--coroutine", FUNCTION_TEXT},
	{OPTION_STRICT, "--strict", NULL},
	{OPTION_TIMELINE, "--timeline", NULL},
	{'o', "--output", OUTPUT_CHOICE_OUTPUT},
	{'f', "--format", "a format's name, or help, which lists them"},
	{OPTION_OUTPUT_DIR, "--output-dir", "the name of a folder"},
	{OPTION_INTERVAL, "--interval", "a time such as 1m, 100ms at least, up to 365 days"},
	{OPTION_KEEP, "--keep", "a number of files, 1 to " KEEP_MAX_TEXT},
	{OPTION_KEEP_SIZE, "--keep-size", "bytes, such as 500k, 10M or 1G"},
	{OPTION_MODE, "--mode", USAGE_MODE},
	{OPTION_TREE, "--tree", "a depth, 1 to " TREE_MAX_TEXT},
	{OPTION_CALLERS, "--callers", CALLERS_TEXT},
	{'q', "--quiet", NULL},
	{'v', "--verbose", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

/* Takes an option that says how the profile is shown. */
static int set_view_option(int letter, struct record_options *record)
{
	int error = 0;

	switch (letter) {
	case OPTION_PLUGIN:
		error = patterns__add(&record->view.plugins, optarg);
		break;
	case OPTION_COROUTINE:
		error = patterns__add(&record->view.coroutines, optarg);
		break;
	case OPTION_IGNORE:
		error = patterns__add(&record->view.ignored, optarg);
		break;
	case OPTION_PLUGIN_PRESET:
		error = plugin_presets__add(&record->view.plugins, optarg);
		break;
	case OPTION_TIMELINE:
		record->timeline = true;
		break;
	case OPTION_STRICT:
		record->strict = true;
		break;
	case OPTION_TREE:
		record->tree_depth = RECORD_TREE_DEFAULT;
		error = optarg ? usage__parse_number(optarg, RECORD_TREE_MAX, &record->tree_depth)
			       : 0;
		break;
	case OPTION_CALLERS:
		record->callers = optarg;
		error = *optarg ? 0 : -EINVAL;
		break;
	}
	return error;
}

static int parse_interval(const char *text, uint64_t *ns)
{
	uint64_t value;
	int error = units__parse_duration(text, &value);

	if (error)
		return error;
	*ns = value;
	return value < INTERVAL_MIN ? -ERANGE : 0;
}

/* Takes an option about the output files, or one of the above. */
static int set_file_option(int letter, struct record_options *record)
{
	switch (letter) {
	case 'o':
		return output_choice__add(&record->outputs, optarg);
	case 'f':
		return output_choice__set_format(&record->outputs, optarg);
	case OPTION_OUTPUT_DIR:
		record->output_dir = optarg;
		return *optarg ? 0 : -EINVAL;
	case OPTION_INTERVAL:
		return parse_interval(optarg, &record->interval_ns);
	case OPTION_KEEP:
		return usage__parse_number(optarg, KEEP_MAX, &record->keep);
	case OPTION_KEEP_SIZE:
		return units__parse_size(optarg, &record->keep_bytes);
	case OPTION_MODE:
		return usage__parse_mode(optarg, &record->mode);
	}
	return set_view_option(letter, record);
}

/* Takes an option that says when samples are taken, or one of the above. */
static int set_moment_option(int letter, struct record_options *record)
{
	switch (letter) {
	case OPTION_START_AFTER:
		return units__parse_duration(optarg, &record->start_after_ns);
	case OPTION_UNTIL_SAMPLES:
		return usage__parse_number(optarg, SAMPLES_MAX, &record->until_samples);
	case OPTION_MAX_OVERHEAD:
		record->has_max_overhead = true;
		return units__parse_limit(optarg, &record->sampling.max_overhead_ppm);
	case OPTION_PAUSED:
		record->is_paused = true;
		return 0;
	case OPTION_CONTROL:
		record->control = optarg;
		return *optarg ? 0 : -EINVAL;
	case OPTION_CONTROL_ACK:
		record->control_ack = optarg;
		return *optarg ? 0 : -EINVAL;
	}
	return set_file_option(letter, record);
}

/* Takes one option with its value, as getopt_long() left it in optarg. */
static int set_option(int letter, struct record_options *record)
{
	int error = target_choice__set(&record->targets, letter, optarg);

	if (error != -ENOTSUP)
		return error;
	error = 0;
	switch (letter) {
	case 'd':
		error = units__parse_duration(optarg, &record->duration_ns);
		break;
	case 'F':
	case 'r':
		error = units__parse_frequency(optarg, &record->sampling.period_ns);
		break;
	case OPTION_MAX_DEPTH:
		error = usage__parse_number(optarg, LS_DEPTH_MAX, &record->sampling.max_depth);
		break;
	case OPTION_LAYOUT:
		record->targets.layout = optarg;
		error = layout__find(optarg, NULL) ? -EINVAL : 0;
		break;
	case OPTION_CATEGORY:
		error = category__parse(optarg);
		if (error >= 0) {
			record->category = (enum category_kind)error;
			record->has_category = true;
			error = 0;
		}
		break;
	case OPTION_WAIT:
		record->targets.waits = true;
		break;
	case OPTION_LINES:
		record->lines = true;
		break;
	case OPTION_NO_SOURCE:
		record->targets.no_source = true;
		break;
	case 'q':
		record->log_level = LOG_ERROR;
		break;
	case 'v':
		record->log_level = LOG_DEBUG;
		break;
	default:
		error = set_moment_option(letter, record);
		break;
	}
	return error;
}

static enum options_verdict refuse_value(int letter, const char *value, int error)
{
	char layouts[LAYOUT_LIST_SIZE];
	bool is_pid = letter == 'p' || letter == USAGE_WORD;

	if (error == -E2BIG && is_pid) {
		target_choice__explain_too_many(value);
		return OPTIONS_WRONG;
	}
	if (is_pid)
		return usage__refuse_pid(value, error);
	if (letter == 'f') {
		output_choice__refuse_format(value);
		return OPTIONS_WRONG;
	}
	if (error == -E2BIG && letter == 'o') {
		output_choice__refuse_more(value);
		return OPTIONS_WRONG;
	}
	if (error == -E2BIG) {
		log_error("too many patterns: '%s' is one more than " TEXT(PATTERNS_MAX), value);
		return OPTIONS_WRONG;
	}
	if (letter == OPTION_PLUGIN_PRESET) {
		log_error("unknown preset in '%s' (accepted: " PLUGIN_PRESETS_TEXT ")", value);
		return OPTIONS_WRONG;
	}
	if (letter != OPTION_LAYOUT)
		return usage__refuse_value(accepted, letter, value, error);
	layout__list(layouts, ", ");
	log_error("unknown layout '%s' (accepted: %s)", value, layouts);
	return OPTIONS_WRONG;
}

enum options_verdict options_record__print_layouts(void)
{
	char layouts[LAYOUT_LIST_SIZE + 1];

	layout__list(layouts, "\n");
	strcat(layouts, "\n");
	return usage__print(layouts);
}

/* Prints the words that an option accepts, one per line, for shell completion. */
static enum options_verdict print_choices(const char *text)
{
	char lines[256];
	size_t length = 0;

	while (*text && length < sizeof(lines) - 1) {
		size_t word = strcspn(text, ", ");
		bool is_word = word && strncmp(text, "or ", 3);

		if (is_word)
			length += (size_t)snprintf(lines + length, sizeof(lines) - length, "%.*s\n",
						   (int)word, text);
		text += word + (text[word] != '\0');
	}
	return usage__print(lines);
}

static enum options_verdict print_values(int letter)
{
	if (letter == 'f')
		return output_choice__print_names() ? OPTIONS_DONE : OPTIONS_FAILED;
	return letter == OPTION_LAYOUT ? options_record__print_layouts()
				       : print_choices(usage__accepted(accepted, letter));
}

static bool has_list(int letter)
{
	return letter == OPTION_LAYOUT || letter == 'f' || letter == OPTION_CATEGORY ||
	       letter == TARGET_CHOICE_MERGE_BY || letter == OPTION_PLUGIN_PRESET;
}

/* Takes the command after the options, or checks that they name a process. */
static enum options_verdict choose_target(int argc, char **argv, struct record_options *record)
{
	if (optind < argc && record->targets.pid_count) {
		log_error("both a process and a command are given: '-p %d' and '%s' (one session "
			  "records one of them)",
			  record->targets.pids[0], argv[optind]);
		return OPTIONS_WRONG;
	}
	if (optind < argc) {
		record->words = argv + optind;
	} else if (!target_choice__is_made(&record->targets)) {
		log_error("missing option '--pid': which process? (accepted: %s; or '--name', a "
			  "command after '--', or '--system')",
			  usage__accepted(accepted, 'p'));
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

enum options_verdict options_record__parse(int argc, char **argv, struct record_options *record)
{
	int letter, error;

	*record = (struct record_options){
		.sampling = {.period_ns = NS_PER_S / RECORD_FREQUENCY, .max_depth = RECORD_DEPTH},
		.log_level = LOG_INFO,
	};
	usage__begin();
	while ((letter = usage__next_or_pid(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_record__help();
		if (has_list(letter) && !strcmp(optarg, "help"))
			return print_values(letter);
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		error = set_option(letter, record);
		if (error)
			return refuse_value(letter, optarg, error);
	}
	if (!record->has_category && target_choice__is_of_many(&record->targets) &&
	    !record->output_dir)
		record->category = CATEGORY_PROCESS;
	if (record->targets.system && !record->has_max_overhead)
		record->sampling.max_overhead_ppm = OVERHEAD_SYSTEM_PPM;
	if (optind < argc && strcmp(argv[optind - 1], "--"))
		return usage__stray_word(argv[optind], true);
	if (!output_choice__decide(&record->outputs) ||
	    record_conflicts__check(record, optind < argc) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	if (output_choice__ordered(&record->outputs))
		record->timeline = true;
	return choose_target(argc, argv, record);
}

enum options_verdict options_record__help(void)
{
	return output_choice__print_help(options_record_help, USAGE_EXIT_STATUS) ? OPTIONS_DONE
										 : OPTIONS_FAILED;
}
