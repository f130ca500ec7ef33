/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options_record.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout_puc.h"
#include "patterns.h"
#include "plugin_presets.h"
#include "record.h"
#include "record_sense.h"
#include "units.h"
#include "usage.h"

#define QUOTE(token)      #token
#define TEXT(macro)       QUOTE(macro)
#define FREQUENCY_DEFAULT 1000
#define DEPTH_DEFAULT     512
#define FREQUENCY_TEXT    TEXT(FREQUENCY_DEFAULT)
#define DEPTH_TEXT        TEXT(DEPTH_DEFAULT)
#define DEPTH_MAX_TEXT    TEXT(LS_DEPTH_MAX)
#define FUNCTION_TEXT     "a function's name, its chunk, CHUNK:NAME or CHUNK:LINE, or a pattern of it"
#define TIME_TEXT         "a time such as 500ms, 30, 1.5s, 5m or 1h, up to 365 days"
#define SAMPLES_MAX       1000000000
#define SAMPLES_MAX_TEXT  TEXT(SAMPLES_MAX)
#define KEEP_MAX          1000000
#define KEEP_MAX_TEXT     TEXT(KEEP_MAX)
#define INTERVAL_MIN      (NS_PER_S / 10)
#define FIFO_TEXT         "the name of a FIFO, which need not exist"
#define GLOB_TEXT         "a pattern such as '*/plugins/*'"
#define NS_PER_S          UINT64_C(1000000000)

static const char help[] =
	"Examples:\n"
	"  sudo luaspy record -p 1234                      sample until Ctrl-C\n"
	"  sudo luaspy record -p 1234 -d 30 -o out.json    half a minute, into out.json\n"
	"  sudo luaspy record -p \"$(pidof -s lua5.4)\" -d 10s -F 10khz\n"
	"  sudo luaspy record -- lua5.4 app.lua            start a command, until it ends\n"
	"  sudo luaspy record --children -- make test      and all processes it starts\n"
	"  sudo luaspy record --system -d 60               all Lua of this host, new too\n"
	"  sudo luaspy record --system --interval 1m       a file for every minute of it\n"
	"  sudo luaspy record -p 1234 -d 5m -o - | gzip > out.json.gz\n"
	"\n"
	"Usage: luaspy record -p PID [OPTION]...\n"
	"       luaspy record [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"       luaspy record --system [OPTION]...\n"
	"\n"
	"Samples the script call stacks of running processes, all threads, and writes\n"
	"where their CPU time goes as ScriptProfiler JSON. Ctrl-C ends it and keeps what\n"
	"it has; so does the end of the processes.\n"
	"\n"
	"A COMMAND is started by luaspy, under sudo as the user who called it and in\n"
	"that user's environment, and profiled from its first instruction. It has the\n"
	"terminal, gets luaspy's signals, and its exit status is luaspy's.\n"
	"\n"
	"A GLOB is a pattern as of a shell in which '*' takes in '/', too. Options that\n"
	"take one may be given more than once.\n"
	"\n"
	"What to profile:\n"
	"  -p, --pid=PID[,PID]... a process that runs already, or several\n"
	"      --children         and all processes that these, or the COMMAND, have\n"
	"                         started or start\n"
	"      --system           every process that runs Lua, and those that will\n"
	"      --name=REGEX       of these, whose name has a match of REGEX in it\n"
	"      --user=NAME        of these, those of user NAME (or its number)\n"
	"      --cgroup=PATH      of these, those of the cgroup PATH and those below it\n"
	"  -d, --duration=TIME    for how long: 500ms, 30 or 30s, 1.5s, 5m, 1h, up to\n"
	"                         365 days (default: until Ctrl-C or its end)\n"
	"      --until-samples=N  until N samples, or some more, had script on the stack,\n"
	"                         if that is sooner\n"
	"      --start-after=TIME  let it run so long before it is sampled\n"
	"      --wait             where there is no Lua yet, wait for one to be loaded\n"
	"\n"
	"When to sample:\n"
	"      --paused           not yet: SIGUSR1 has it go on, or pause. What runs in a\n"
	"                         pause is not in the profile; --duration goes on\n"
	"      --control=FIFO     be told by lines in FIFO, which is made if need be:\n"
	"                         pause, resume, mark TEXT, write (the profile so far),\n"
	"                         stop\n"
	"      --control-ack=FIFO  say there, by a line for each, that it was done: 'ok\n"
	"                         WORD', or 'failed WORD: REASON'\n"
	"\n"
	"How to sample:\n"
	"  -F, --frequency=FREQ   samples per second of CPU time, for each thread:\n"
	"                         1 to 20000, or 1khz, 10khz (default: " FREQUENCY_TEXT ")\n"
	"      --max-overhead=PERCENT  sample less often where more would cost over so\n"
	"                         much of the targets' CPU time, in interrupts, BPF and\n"
	"                         luaspy itself (what it takes however often it samples\n"
	"                         counts for half of that at most); or none\n"
	"                         (default: none; with --system: " OVERHEAD_SYSTEM_TEXT ")\n"
	"      --max-depth=N      frames to keep of a stack, 1 to " DEPTH_MAX_TEXT "\n"
	"                         (default: " DEPTH_TEXT ")\n"
	"      --lines            tell functions apart by the line that they are at\n"
	"      --layout=NAME      read its Lua as that of release NAME, such as 5.4.6,\n"
	"                         whatever samples say (--layout=help lists them)\n"
	"\n"
	"Output:\n"
	"  -o, --output=FILE      the profile; - is standard output\n"
	"                         (default: NAME-PID-DATE.json in this folder)\n"
	"      --output-dir=DIR   a file for each process into this folder, which is\n"
	"                         made if need be: NAME-PID-DATE.json; for each group,\n"
	"                         where --merge-by says so; and rest-DATE.json for what\n"
	"                         is left\n"
	"      --interval=TIME    a file for every TIME, 100ms or more, with\n"
	"                         the date in its name. 'write' by --control closes it\n"
	"                         early, and so does SIGHUP where there is no terminal\n"
	"      --keep=N           remove the oldest of these files, so that those of N\n"
	"                         intervals stay\n"
	"      --keep-size=SIZE   so that they hold no more than SIZE: 500k, 10M, 1G\n"
	"      --category=WHAT    what the profile's top level is: thread, by its name;\n"
	"                         process; state, one for each Lua VM; or chunk, the\n"
	"                         outermost script of the stack (default: thread; of\n"
	"                         several processes in one file: process). Time without\n"
	"                         script is '(no VM)' or '(no chunk)' there\n"
	"      --merge-by=WHAT    of several processes, those of one name, one cgroup\n"
	"                         (its path) or one user are one category, called so.\n"
	"                         Else each is, 'lua5.4 (pid 42)'; in a container,\n"
	"                         'lua5.4 (pid 42, 7 in 1a2b3c4d5e6f)': its number there\n"
	"                         and the container's id, or '7 inside'\n"
	"      --timeline         add every sample in order of time (Samples), for charts\n"
	"                         of what ran when; the first 4,194,304 are kept\n"
	"      --strict           only what ScriptProfiler's format has itself: neither\n"
	"                         Recorder nor Lines\n"
	"\n"
	"What to see:\n"
	"      --plugin=GLOB      mark functions of chunks (files) whose name fits, and\n"
	"                         all that they call, as IsPlugin of ScriptProfiler\n"
	"      --plugin-preset=NAMES  the same for where known programs have plugins: one\n"
	"                         or more of " PLUGIN_PRESETS_TEXT "\n"
	"      --ignore=GLOB      take functions out of the stacks whose NAME, CHUNK,\n"
	"                         CHUNK:NAME or CHUNK:LINE fits; their time is that of\n"
	"                         their callers, and of '(ignored)' where they have none\n"
	"      --coroutine=GLOB   show only what runs in coroutines whose first function\n"
	"                         has such a name or place, and what that calls or\n"
	"                         resumes; a main thread is one, too. Other script is\n"
	"                         '(other coroutines)'\n"
	"\n"
	"Messages:\n"
	"  -q, --quiet            errors only: no countdown, no warnings, no summary\n"
	"  -v, --verbose          say how the interpreter was found, and more\n"
	"\n"
	"  -h, --help             this text\n" USAGE_EXIT_STATUS;

enum {
	OPTION_MAX_DEPTH = 256, /* no letter */
	OPTION_LAYOUT,
	OPTION_WAIT,
	OPTION_LINES,
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
	OPTION_MAX_OVERHEAD,
};

static const struct usage_option accepted[] = {
	TARGET_CHOICE_OPTIONS,
	{'d', "--duration", TIME_TEXT},
	{OPTION_START_AFTER, "--start-after", TIME_TEXT},
	{OPTION_UNTIL_SAMPLES, "--until-samples", "a number of samples, 1 to " SAMPLES_MAX_TEXT},
	{'F', "--frequency", "1 to 20000 Hz, such as 1000, 250hz or 10khz"},
	{OPTION_PAUSED, "--paused", NULL},
	{OPTION_CONTROL, "--control", FIFO_TEXT},
	{OPTION_CONTROL_ACK, "--control-ack", FIFO_TEXT},
	{OPTION_MAX_OVERHEAD, "--max-overhead", "0.01 to 100%, such as 0.5%, or none"},
	{OPTION_MAX_DEPTH, "--max-depth", "a number of frames, 1 to " DEPTH_MAX_TEXT},
	{OPTION_LAYOUT, "--layout", "a release such as 5.4.6, or help, which lists them"},
	{OPTION_WAIT, "--wait", NULL},
	{OPTION_LINES, "--lines", NULL},
	{OPTION_CATEGORY, "--category", "thread, process, state or chunk"},
	TARGET_CHOICE_MERGING,
	{OPTION_PLUGIN, "--plugin", GLOB_TEXT},
	{OPTION_PLUGIN_PRESET, "--plugin-preset", PLUGIN_PRESETS_TEXT},
	{OPTION_IGNORE, "--ignore", FUNCTION_TEXT},
	{OPTION_COROUTINE, "--coroutine", FUNCTION_TEXT},
	{OPTION_STRICT, "--strict", NULL},
	{OPTION_TIMELINE, "--timeline", NULL},
	{'o', "--output", "a file name, or - for standard output"},
	{OPTION_OUTPUT_DIR, "--output-dir", "the name of a folder"},
	{OPTION_INTERVAL, "--interval", "a time such as 1m, 100ms at least, up to 365 days"},
	{OPTION_KEEP, "--keep", "a number of files, 1 to " KEEP_MAX_TEXT},
	{OPTION_KEEP_SIZE, "--keep-size", "bytes, such as 500k, 10M or 1G"},
	{'q', "--quiet", NULL},
	{'v', "--verbose", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

/* Takes an option that says how the profile is shown. */
static int set_view_option(int letter, struct record_options *record)
{
	int err = 0;

	switch (letter) {
	case OPTION_PLUGIN:
		err = patterns__add(&record->view.plugins, optarg);
		break;
	case OPTION_COROUTINE:
		err = patterns__add(&record->view.coroutines, optarg);
		break;
	case OPTION_IGNORE:
		err = patterns__add(&record->view.ignored, optarg);
		break;
	case OPTION_PLUGIN_PRESET:
		err = plugin_presets__add(&record->view.plugins, optarg);
		break;
	case OPTION_TIMELINE:
		record->timeline = true;
		break;
	case OPTION_STRICT:
		record->strict = true;
		break;
	}
	return err;
}

static int parse_interval(const char *text, uint64_t *ns)
{
	uint64_t value;
	int err = units__parse_duration(text, &value);

	if (err)
		return err;
	*ns = value;
	return value < INTERVAL_MIN ? -ERANGE : 0;
}

/* Takes an option that says into how many files, or one of the above. */
static int set_file_option(int letter, struct record_options *record)
{
	switch (letter) {
	case OPTION_OUTPUT_DIR:
		record->output_dir = optarg;
		return *optarg ? 0 : -EINVAL;
	case OPTION_INTERVAL:
		return parse_interval(optarg, &record->interval_ns);
	case OPTION_KEEP:
		return usage__parse_number(optarg, KEEP_MAX, &record->keep);
	case OPTION_KEEP_SIZE:
		return units__parse_size(optarg, &record->keep_bytes);
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
		return units__parse_limit(optarg, &record->max_overhead_ppm);
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
	int err = target_choice__set(&record->targets, letter, optarg);

	if (err != -ENOTSUP)
		return err;
	err = 0;
	switch (letter) {
	case 'd':
		err = units__parse_duration(optarg, &record->duration_ns);
		break;
	case 'F':
		err = units__parse_frequency(optarg, &record->period_ns);
		break;
	case OPTION_MAX_DEPTH:
		err = usage__parse_number(optarg, LS_DEPTH_MAX, &record->max_depth);
		break;
	case OPTION_LAYOUT:
		record->layout = optarg;
		err = layout_puc__find(optarg) < 0 ? -EINVAL : 0;
		break;
	case OPTION_CATEGORY:
		err = category__parse(optarg);
		if (err >= 0) {
			record->category = (enum category_kind)err;
			record->has_category = true;
			err = 0;
		}
		break;
	case OPTION_WAIT:
		record->waits = true;
		break;
	case OPTION_LINES:
		record->lines = true;
		break;
	case 'o':
		record->output = optarg;
		err = *optarg ? 0 : -EINVAL;
		break;
	case 'q':
		record->log_level = LOG_ERROR;
		break;
	case 'v':
		record->log_level = LOG_DEBUG;
		break;
	default:
		err = set_moment_option(letter, record);
		break;
	}
	return err;
}

static void list_layouts(char *to, size_t size, const char *separator)
{
	size_t length = 0;

	for (size_t i = 0; i < layouts_puc_count && length < size; i++)
		length += (size_t)snprintf(to + length, size - length, "%s%s", i ? separator : "",
					   layouts_puc[i].name);
}

static enum options_verdict refuse_value(int letter, const char *value, int error)
{
	char layouts[512];

	if (error == -E2BIG && letter == 'p') {
		target_choice__explain_too_many(value);
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
	list_layouts(layouts, sizeof(layouts), ", ");
	log_error("unknown layout '%s' (accepted: %s)", value, layouts);
	return OPTIONS_WRONG;
}

enum options_verdict options_record__print_layouts(void)
{
	char layouts[512];

	list_layouts(layouts, sizeof(layouts) - 1, "\n");
	strcat(layouts, "\n");
	return usage__print(layouts);
}

/* The words among which an option chooses, one a line, as completions want them. */
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
	return letter == OPTION_LAYOUT ? options_record__print_layouts()
				       : print_choices(usage__accepted(accepted, letter));
}

static bool has_list(int letter)
{
	return letter == OPTION_LAYOUT || letter == OPTION_CATEGORY ||
	       letter == TARGET_CHOICE_MERGE_BY || letter == OPTION_PLUGIN_PRESET;
}

/* After the options: a command, or a process was given with them. */
static enum options_verdict choose_target(int argc, char **argv, struct record_options *record)
{
	if (optind < argc && strcmp(argv[optind - 1], "--")) {
		log_error("unexpected argument '%s' (a process is given as '-p PID', a command "
			  "after '--')",
			  argv[optind]);
		return OPTIONS_WRONG;
	}
	if (optind < argc && record->targets.pid_count) {
		log_error("both a process and a command are given: '-p %d' and '%s' (one session "
			  "records one of them)",
			  record->targets.pids[0], argv[optind]);
		return OPTIONS_WRONG;
	}
	if (optind < argc) {
		record->words = argv + optind;
	} else if (!record->targets.pid_count && !record->targets.system) {
		log_error("missing option '--pid': which process? (accepted: %s; or a command "
			  "after '--', or '--system')",
			  usage__accepted(accepted, 'p'));
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

enum options_verdict options_record__parse(int argc, char **argv, struct record_options *record)
{
	int letter, err;

	*record = (struct record_options){
		.period_ns = NS_PER_S / FREQUENCY_DEFAULT,
		.max_depth = DEPTH_DEFAULT,
		.log_level = LOG_INFO,
	};
	usage__begin();
	while ((letter = usage__next(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_record__help();
		if (has_list(letter) && !strcmp(optarg, "help"))
			return print_values(letter);
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		err = set_option(letter, record);
		if (err)
			return refuse_value(letter, optarg, err);
	}
	if (!record->has_category && target_choice__is_of_many(&record->targets) &&
	    !record->output_dir)
		record->category = CATEGORY_PROCESS;
	if (record->targets.system && !record->has_max_overhead)
		record->max_overhead_ppm = OVERHEAD_SYSTEM_PPM;
	if (record_sense__check(record, optind < argc) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	return choose_target(argc, argv, record);
}

enum options_verdict options_record__help(void)
{
	return usage__print(help);
}
