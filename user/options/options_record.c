/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_record.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "interpreter/family.h"
#include "options/options_check.h"
#include "profile/plugin_presets.h"
#include "options/usage.h"
#include "profile/patterns.h"
#include "record.h"

#define QUOTE(token)      #token
#define TEXT(macro)       QUOTE(macro)
#define FREQUENCY_DEFAULT 1000
#define DEPTH_DEFAULT     512
#define FREQUENCY_TEXT    TEXT(FREQUENCY_DEFAULT)
#define DEPTH_TEXT        TEXT(DEPTH_DEFAULT)
#define DEPTH_MAX_TEXT    TEXT(LS_DEPTH_MAX)
#define FUNCTION_TEXT     "a function's name, its chunk, CHUNK:NAME or CHUNK:LINE, or a pattern of it"
#define CALLERS_TEXT      "a function's name, or CHUNK:LINE of its definition"
#define TIME_TEXT         "a time such as 500ms, 30, 1.5s, 5m or 1h, up to 365 days"
#define SAMPLES_MAX       1000000000
#define SAMPLES_MAX_TEXT  TEXT(SAMPLES_MAX)
#define KEEP_MAX          1000000
#define KEEP_MAX_TEXT     TEXT(KEEP_MAX)
#define TREE_DEFAULT      8
#define TREE_MAX          512
#define TREE_TEXT         TEXT(TREE_DEFAULT)
#define TREE_MAX_TEXT     TEXT(TREE_MAX)
#define INTERVAL_MIN      (NS_PER_S / 10)
#define FIFO_TEXT         "the name of a FIFO, which need not exist"
#define GLOB_TEXT         "a pattern such as '*/plugins/*'"
#define NS_PER_S          UINT64_C(1000000000)

static const char help[] =
	"Examples:\n"
	"  sudo luaspy record -p 1234                      sample until Ctrl-C\n"
	"  sudo luaspy record -p 1234 -d 30 -o out.json    half a minute, into out.json\n"
	"  sudo luaspy record --name '^redis' -d 10s -F 10khz  the process of that name\n"
	"  sudo luaspy record -- lua5.4 app.lua            start a command, until it ends\n"
	"  sudo luaspy record --children -- make test      with all that it starts\n"
	"  sudo luaspy record --system -d 60               all processes that run Lua\n"
	"  sudo luaspy record --system --interval 1m       a file for every minute\n"
	"  sudo luaspy record -p 1234 -d 5m -o - | gzip > out.json.gz  into a pipe\n"
	"\n"
	"Usage: luaspy record -p PID [OPTION]...\n"
	"       luaspy record --name REGEX [OPTION]...\n"
	"       luaspy record [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"       luaspy record --system [OPTION]...\n"
	"\n"
	"Samples the call stacks of scripts in all threads of running processes, writes\n"
	"where their CPU time goes as ScriptProfiler JSON or in other formats, and prints\n"
	"a summary. Ctrl-C ends the recording and writes the profile; so does the end of\n"
	"the processes.\n"
	"\n"
	"luaspy starts a COMMAND (under sudo, as the user who called it and in that\n"
	"user's environment) and profiles it from its first instruction. The COMMAND has\n"
	"the terminal and gets luaspy's signals; its exit status becomes luaspy's.\n"
	"\n"
	"A GLOB is a shell pattern in which '*' matches '/', too. Options that take a\n"
	"GLOB may be given more than once.\n"
	"\n"
	"What to profile:\n"
	"  -p, --pid=PID[,PID]...  a running process, or several; '-p' may be omitted\n"
	"      --children         also all child processes, present and future, of these\n"
	"                         or of the COMMAND\n"
	"  -s, --subprocesses     the same as --children\n"
	"      --system           every process that runs an interpreter, now or later\n"
	"      --name=REGEX       with --system, only processes whose name matches REGEX;\n"
	"                         without, the only process with an interpreter whose\n"
	"                         name matches, or whose program and script do\n"
	"      --user=NAME        only processes of user NAME, or its number (with\n"
	"                         --system or --name)\n"
	"      --cgroup=PATH      only processes in the cgroup PATH or below it (with\n"
	"                         --system or --name)\n"
	"  -d, --duration=TIME    for how long: 500ms, 30 or 30s, 1.5s, 5m, 1h, up to\n"
	"                         365 days (default: until Ctrl-C or its end)\n"
	"      --until-samples=N  stop once N samples have script on the stack, if that\n"
	"                         is sooner\n"
	"      --start-after=TIME  start sampling this much later\n"
	"      --wait             if there is no interpreter yet, wait until one is\n"
	"                         loaded\n"
	"\n"
	"When to sample:\n"
	"      --paused           start paused: SIGUSR1 resumes or pauses. The profile\n"
	"                         leaves pauses out; --duration includes them\n"
	"      --control=FIFO     read commands from FIFO, one a line: pause, resume,\n"
	"                         mark TEXT, write (the profile so far), stop. luaspy\n"
	"                         makes the FIFO if needed\n"
	"      --control-ack=FIFO  answer each command there with a line: 'ok WORD' or\n"
	"                         'failed WORD: REASON'\n"
	"\n"
	"How to sample:\n"
	"  -F, --frequency=FREQ   samples per second of CPU time, for each thread:\n"
	"                         1 to 20000, or 1khz, 10khz (default: " FREQUENCY_TEXT ")\n"
	"  -r, --rate=FREQ        the same as --frequency\n"
	"      --max-overhead=PERCENT  sample less often if sampling would otherwise cost\n"
	"                         more than this share of the targets' CPU time, in\n"
	"                         interrupts, BPF and luaspy itself (fixed costs count\n"
	"                         for half of it at most); or none\n"
	"                         (default: none; with --system: " OVERHEAD_SYSTEM_TEXT ")\n"
	"      --max-depth=N      frames to keep of a stack, 1 to " DEPTH_MAX_TEXT "\n"
	"                         (default: " DEPTH_TEXT ")\n"
	"      --lines            split functions by their current line\n"
	"      --no-source        do not read source text to name functions: name them\n"
	"                         by bytecode, or as their callers do\n"
	"      --layout=NAME      assume the memory layout of release NAME, such as\n"
	"                         5.4.6, instead of deciding it on samples\n"
	"                         (--layout=help lists the releases)\n"
	"\n"
	"Output:\n"
	"  -o, --output=FILE      where to write the profile; the ending of the name\n"
	"                         chooses the format (listed below), and - is stdout. May\n"
	"                         be given more than once (default: NAME-PID-DATE.json in\n"
	"                         this folder)\n" OUTPUT_CHOICE_HELP
	"      --output-dir=DIR   write a file for each process, NAME-PID-DATE.json, or\n"
	"                         for each group (--merge-by) into this folder, which is\n"
	"                         created if needed, and rest-DATE.json for all else\n"
	"      --interval=TIME    write a file every TIME, 100ms or more, with the date\n"
	"                         in its name. The command 'write' of --control ends an\n"
	"                         interval early; so does SIGHUP without a terminal\n"
	"      --keep=N           keep the files of the latest N intervals, and remove\n"
	"                         older ones\n"
	"      --keep-size=SIZE   keep at most SIZE of these files: 500k, 10M, 1G\n"
	"      --mode=OCTAL       the permissions of these files, such as 600 or 644\n"
	"                         (default: 640 less the umask, or those of a file that\n"
	"                         is replaced)\n"
	"      --category=WHAT    the top level of the profile: thread, by its name;\n"
	"                         process; state, one for each VM, and for each memory\n"
	"                         category that its program uses; or chunk, the\n"
	"                         outermost script of the stack (default: thread; for\n"
	"                         several processes in one file: process). Time without\n"
	"                         script is '(no VM)' or '(no chunk)' there\n"
	"      --merge-by=WHAT    combine processes of one name, one cgroup (its path) or\n"
	"                         one user into a category of that name. Otherwise each\n"
	"                         process is one, 'lua5.4 app.lua (pid 42)'; in a\n"
	"                         container, '(pid 42, 7 in 1a2b3c4d5e6f)': its PID there\n"
	"                         and the container's id, or '7 inside'\n"
	"      --no-command-lines  call processes by their names alone, such as 'lua5.4'.\n"
	"                         By default, the script follows ('lua5.4 app.lua'), or\n"
	"                         luaspy shows the beginning of the command line, which\n"
	"                         may hold secrets\n"
	"      --timeline         keep every sample in order of time, for charts of what\n"
	"                         ran when (in JSON: Samples); the first 4,194,304 are\n"
	"                         kept. Formats that need it turn it on\n"
	"      --strict           write only fields of ScriptProfiler's own format: no\n"
	"                         Recorder, no Lines\n"
	"\n"
	"What to see:\n"
	"      --plugin=GLOB      mark functions of chunks (files) whose name matches,\n"
	"                         and all that they call, as IsPlugin of ScriptProfiler\n"
	"      --plugin-preset=NAMES  the same for the plugins of known programs: one or\n"
	"                         more of " PLUGIN_PRESETS_TEXT "\n"
	"      --ignore=GLOB      remove functions from the stacks whose NAME, CHUNK,\n"
	"                         CHUNK:NAME or CHUNK:LINE matches; their time goes to\n"
	"                         their callers, or to '(ignored)' if they have none\n"
	"      --coroutine=GLOB   show only coroutines whose first function matches in\n"
	"                         the same way, with all that they call or resume; a\n"
	"                         main thread counts as a coroutine. Other script is\n"
	"                         '(other coroutines)'\n"
	"\n"
	"Summary:\n"
	"      --tree[=DEPTH]     also print the call tree, DEPTH calls deep: 1 to " TREE_MAX_TEXT
	"\n"
	"                         (default: " TREE_TEXT ")\n"
	"      --callers=NAME     print who calls the function NAME, or the one that is\n"
	"                         defined at CHUNK:LINE (CHUNK may lack leading folders)\n"
	"\n"
	"Messages:\n"
	"  -q, --quiet            errors only: no countdown, no warnings, no summary\n"
	"  -v, --verbose          say how the interpreter was found, what became of\n"
	"                         every sample, and more\n"
	"\n"
	"  -h, --help             show this help\n";

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
		record->tree_depth = TREE_DEFAULT;
		error = optarg ? usage__parse_number(optarg, TREE_MAX, &record->tree_depth) : 0;
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

static void list_layouts(char *to, size_t size, const char *separator)
{
	size_t length = 0;
	const char *name;

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		for (uint32_t slot = 0; (name = families__get(id)->layout_name(slot)); slot++)
			if (length < size)
				length += (size_t)snprintf(to + length, size - length, "%s%s",
							   length ? separator : "", name);
}

static enum options_verdict refuse_value(int letter, const char *value, int error)
{
	char layouts[512];
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
		.sampling = {.period_ns = NS_PER_S / FREQUENCY_DEFAULT, .max_depth = DEPTH_DEFAULT},
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
	    options_check__record(record, optind < argc) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	if (output_choice__ordered(&record->outputs))
		record->timeline = true;
	return choose_target(argc, argv, record);
}

enum options_verdict options_record__help(void)
{
	return output_choice__print_help(help, USAGE_EXIT_STATUS) ? OPTIONS_DONE : OPTIONS_FAILED;
}
