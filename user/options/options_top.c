/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/units.h"
#include "interpreter/family.h"
#include "options/options_live.h"
#include "options/usage.h"
#include "profile/plugin_presets.h"
#include "record.h"

#define QUOTE(token)   #token
#define TEXT(macro)    QUOTE(macro)
#define DEPTH_DEFAULT  512
#define DEPTH_TEXT     TEXT(DEPTH_DEFAULT)
#define DEPTH_MAX_TEXT TEXT(LS_DEPTH_MAX)
#define PERIOD_DEFAULT UINT64_C(1000000)

static const char top_help[] =
	"Examples:\n"
	"  sudo luaspy top 1234                    its functions, once a second\n"
	"  sudo luaspy top -- lua5.4 app.lua       those of a command that it starts\n"
	"  sudo luaspy top -p 1234 --sort total    sorted with their callees\n"
	"  sudo luaspy top -p 1234 -F 10khz        ten times as precise\n"
	"  sudo luaspy top --system                all processes that run Lua\n"
	"  sudo luaspy top --system --merge-by cgroup  by service or container\n"
	"\n"
	"Usage: luaspy top -p PID [OPTION]...\n"
	"       luaspy top --name REGEX [OPTION]...\n"
	"       luaspy top [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"       luaspy top --system [OPTION]...\n"
	"\n"
	"Shows, once a second, which functions use the CPU time of running processes, as\n"
	"shares of a CPU: in the last second, and since the start. It needs a terminal.\n"
	"\n"
	"Keys: 1 to 5 sort, i reverses, / searches, f filters, p pauses the view, r\n"
	"resets the counts, w writes the profile so far as ScriptProfiler JSON into\n"
	"NAME-PID-DATE.json in this folder, h shows all keys, q quits. Enter shows the\n"
	"callers and callees of the selected function, and Esc goes back. a shows times\n"
	"as averages, G hides the garbage collector, P hides plugins. With several\n"
	"processes, v switches between processes and functions; Enter shows only the\n"
	"functions of the selected process, and so does o for a function's process. The\n"
	"callers and callees of a function are those in the process of its row.\n"
	"\n"
	"luaspy starts a COMMAND as the user who called sudo. The COMMAND has no\n"
	"terminal: its output goes to /dev/null, unless it is redirected ('2>FILE'). When\n"
	"you quit, top ends the COMMAND (SIGTERM).\n"
	"\n"
	"What to watch:\n"
	"  -p, --pid=PID[,PID]...  a running process, or several; '-p' may be omitted\n"
	"      --children        also all their child processes, present and future\n"
	"  -s, --subprocesses    the same as --children\n"
	"      --system          every process that runs an interpreter, now or later\n"
	"      --name=REGEX      with --system, only processes whose name matches REGEX;\n"
	"                        without, the only process with an interpreter whose\n"
	"                        name matches, or whose program and script do\n"
	"      --user=NAME       only processes of user NAME, or its number (with\n"
	"                        --system or --name)\n"
	"      --cgroup=PATH     only processes in the cgroup PATH or below it (with\n"
	"                        --system or --name)\n"
	"      --merge-by=WHAT   combine processes of one name, one cgroup or one user\n"
	"\n"
	"Options:\n"
	"  -F, --frequency=FREQ  samples per second of CPU time, for each thread:\n"
	"                        1 to 20000, or 1khz, 10khz (default: 1000)\n"
	"  -r, --rate=FREQ       the same as --frequency\n"
	"      --max-overhead=PERCENT  sample less often if sampling would otherwise cost\n"
	"                        more than this share of the targets' CPU time; or none\n"
	"                        (default: none; with --system: " OVERHEAD_SYSTEM_TEXT ")\n"
	"      --sort=COLUMN     what to sort by at first: self, total (in the last\n"
	"                        second), all-self, all-total or name (default: self)\n"
	"      --average=SPAN    show times as averages at first: CPU time per SPAN of\n"
	"                        wall clock, " LISTING_AVERAGES "\n"
	"      --hide-gc         leave out the garbage collector at first: its time is in\n"
	"                        no function and in no process\n"
	"      --plugin=GLOB     functions of chunks (files) whose name matches, and all\n"
	"                        that they call, are plugins\n"
	"      --plugin-preset=NAMES  the same for the plugins of known programs: one or\n"
	"                        more of " PLUGIN_PRESETS_TEXT "\n"
	"      --hide-plugins    leave out plugins at first; functions that call them\n"
	"                        keep the time\n"
	"      --max-depth=N     frames to keep of a stack, 1 to " DEPTH_MAX_TEXT "\n"
	"                        (default: " DEPTH_TEXT ")\n"
	"      --wait            if there is no interpreter yet, wait until one is\n"
	"                        loaded\n"
	"      --no-source       do not read source text to name functions: name them by\n"
	"                        bytecode, or as their callers do\n"
	"      --no-command-lines  call processes by their names alone, not by their\n"
	"                        scripts or command lines, which may hold secrets\n"
	"      --layout=NAME     read memory as the interpreter of release NAME has it,\n"
	"                        such as 5.4.6 (--layout=help lists the releases)\n"
	"  -h, --help            show this help\n"
	"\n"
	"Exit status:\n"
	"  0  it was quit, or the process ended; if the COMMAND ended, its exit status\n"
	"  1  luaspy failed\n"
	"  2  the command line is wrong, several fit '--name', or there is no terminal\n"
	"  3  nothing to show: no interpreter found\n";

enum {
	OPTION_SORT = 256,
	OPTION_AVERAGE,
	OPTION_HIDE_GC,
	OPTION_HIDE_PLUGINS,
	OPTION_PLUGIN,
	OPTION_PLUGIN_PRESET,
	OPTION_MAX_OVERHEAD,
	OPTION_MAX_DEPTH,
	OPTION_WAIT,
	OPTION_NO_SOURCE,
	OPTION_LAYOUT,
};

static const struct usage_option accepted[] = {
	TARGET_CHOICE_OPTIONS,
	TARGET_CHOICE_MERGING,
	{'F', "--frequency", "1 to 20000 Hz, such as 1000, 250hz or 10khz"},
	{'r', "--rate", "1 to 20000 Hz, such as 1000, 250hz or 10khz"},
	{OPTION_MAX_OVERHEAD, "--max-overhead", "0.01 to 100%, such as 0.5%, or none"},
	{OPTION_SORT, "--sort", LISTING_SORTS},
	{OPTION_AVERAGE, "--average", LISTING_AVERAGES},
	{OPTION_HIDE_GC, "--hide-gc", NULL},
	{OPTION_PLUGIN, "--plugin", "a pattern such as '*/plugins/*'"},
	{OPTION_PLUGIN_PRESET, "--plugin-preset", PLUGIN_PRESETS_TEXT},
	{OPTION_HIDE_PLUGINS, "--hide-plugins", NULL},
	{OPTION_MAX_DEPTH, "--max-depth", "a number of frames, 1 to " DEPTH_MAX_TEXT},
	{OPTION_WAIT, "--wait", NULL},
	{OPTION_NO_SOURCE, "--no-source", NULL},
	{OPTION_LAYOUT, "--layout", "a release such as 5.4.6, or help, which lists them"},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

/* Takes an option that says what is shown at first. -ENOTSUP: it is none. */
static int set_view_option(int letter, struct top_options *top)
{
	int found = 0;

	switch (letter) {
	case OPTION_SORT:
		found = listing__find_column(optarg);
		if (found >= 0)
			top->sort = (enum listing_column)found;
		break;
	case OPTION_AVERAGE:
		found = listing__find_average(optarg);
		if (found > 0)
			top->average_s = (uint32_t)found;
		break;
	case OPTION_HIDE_GC:
		top->hidden |= STATS_HIDDEN_GC;
		break;
	case OPTION_HIDE_PLUGINS:
		top->hidden |= STATS_HIDDEN_PLUGINS;
		break;
	case OPTION_PLUGIN:
		return patterns__add(&top->view.plugins, optarg);
	case OPTION_PLUGIN_PRESET:
		return plugin_presets__add(&top->view.plugins, optarg);
	default:
		return -ENOTSUP;
	}
	return found < 0 ? found : 0;
}

/* Takes one option with its value, as getopt_long() left it in optarg. */
static int set_option(int letter, struct top_options *top)
{
	int error = target_choice__set(&top->targets, letter, optarg);

	if (error == -ENOTSUP)
		error = set_view_option(letter, top);
	if (error != -ENOTSUP)
		return error;
	error = 0;
	switch (letter) {
	case 'F':
	case 'r':
		error = units__parse_frequency(optarg, &top->sampling.period_ns);
		break;
	case OPTION_MAX_OVERHEAD:
		error = units__parse_limit(optarg, &top->sampling.max_overhead_ppm);
		break;
	case OPTION_MAX_DEPTH:
		error = usage__parse_number(optarg, LS_DEPTH_MAX, &top->sampling.max_depth);
		break;
	case OPTION_WAIT:
		top->targets.waits = true;
		break;
	case OPTION_NO_SOURCE:
		top->targets.no_source = true;
		break;
	case OPTION_LAYOUT:
		top->targets.layout = optarg;
		error = layout__find(optarg, NULL) ? -EINVAL : 0;
		break;
	}
	return error;
}

enum options_verdict options_top__help(void)
{
	return usage__print(top_help);
}

static enum options_verdict refuse_value(int letter, const char *value, int error)
{
	bool is_pid = letter == 'p' || letter == USAGE_WORD;

	if (is_pid && error != -E2BIG)
		return usage__refuse_pid(value, error);
	if (!is_pid && error == -E2BIG) {
		log_error("too many patterns: '%s' is one more than " TEXT(PATTERNS_MAX), value);
		return OPTIONS_WRONG;
	}
	if (!is_pid)
		return usage__refuse_value(accepted, letter, value, error);
	target_choice__explain_too_many(value);
	return OPTIONS_WRONG;
}

/* Takes the command after the options, or checks that they name a process. */
static enum options_verdict choose_target(int argc, char **argv, struct top_options *top)
{
	bool has_command = optind < argc;

	if (has_command && strcmp(argv[optind - 1], "--"))
		return usage__stray_word(argv[optind], true);
	if (target_choice__check(&top->targets, has_command))
		return OPTIONS_WRONG;
	if (has_command && top->targets.pid_count) {
		log_error("both a process and a command are given: '-p %d' and '%s' (top watches "
			  "one of them)",
			  top->targets.pids[0], argv[optind]);
		return OPTIONS_WRONG;
	}
	if (has_command)
		top->words = argv + optind;
	if (has_command || target_choice__is_made(&top->targets))
		return OPTIONS_RUN;
	log_error("missing option '--pid': which process? (accepted: %s; or '--name', a command "
		  "after '--', or '--system')",
		  usage__accepted(accepted, 'p'));
	return OPTIONS_WRONG;
}

enum options_verdict options_top__parse(int argc, char **argv, struct top_options *top)
{
	bool has_max_overhead = false;
	int letter, error;

	*top = (struct top_options){
		.sampling = {.period_ns = PERIOD_DEFAULT, .max_depth = DEPTH_DEFAULT}};
	usage__begin();
	while ((letter = usage__next_or_pid(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_top__help();
		if (letter == OPTION_LAYOUT && !strcmp(optarg, "help"))
			return options_record__print_layouts();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		has_max_overhead |= letter == OPTION_MAX_OVERHEAD;
		error = set_option(letter, top);
		if (error)
			return refuse_value(letter, optarg, error);
	}
	if (top->targets.system && !has_max_overhead)
		top->sampling.max_overhead_ppm = OVERHEAD_SYSTEM_PPM;
	if (top->hidden & STATS_HIDDEN_PLUGINS && !top->view.plugins.count) {
		log_error(
			"'--hide-plugins' needs '--plugin' or '--plugin-preset', which say what is "
			"a plugin");
		return OPTIONS_WRONG;
	}
	return choose_target(argc, argv, top);
}
