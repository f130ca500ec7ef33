/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "layout_puc.h"
#include "options_record.h"
#include "options_top.h"
#include "record.h"
#include "units.h"
#include "usage.h"

#define QUOTE(token)   #token
#define TEXT(macro)    QUOTE(macro)
#define DEPTH_DEFAULT  512
#define DEPTH_TEXT     TEXT(DEPTH_DEFAULT)
#define DEPTH_MAX_TEXT TEXT(LS_DEPTH_MAX)
#define PERIOD_DEFAULT UINT64_C(1000000)

static const char top_help[] =
	"Examples:\n"
	"  sudo luaspy top -p 1234                 which functions it is in, each second\n"
	"  sudo luaspy top -p 1234 --sort total    with what they call first\n"
	"  sudo luaspy top -p 1234 -F 10khz        ten times as fine\n"
	"  sudo luaspy top --system                all Lua of this host, new too\n"
	"  sudo luaspy top --system --merge-by cgroup  by service or container\n"
	"\n"
	"Usage: luaspy top -p PID [OPTION]...\n"
	"       luaspy top --system [OPTION]...\n"
	"\n"
	"Shows, once a second, where the CPU time of running processes goes by function:\n"
	"as shares of a processor in the last second, and in all. It needs a terminal.\n"
	"\n"
	"Keys: 1 to 5 sort, i reverses, / searches, f filters, p pauses the picture, r\n"
	"counts from zero, w writes the profile so far as ScriptProfiler JSON into\n"
	"NAME-PID-DATE.json in this folder, h shows all keys, q quits. Of several\n"
	"processes, v shows these instead of functions, or functions again; Enter shows\n"
	"only the functions of the process that it is on, Esc goes back.\n"
	"\n"
	"What to watch:\n"
	"  -p, --pid=PID[,PID]...  a process that runs already, or several\n"
	"      --children        and all processes that these have started or start\n"
	"      --system          every process that runs Lua, and those that will\n"
	"      --name=REGEX      of these, whose name has a match of REGEX in it\n"
	"      --user=NAME       of these, those of user NAME (or its number)\n"
	"      --cgroup=PATH     of these, those of the cgroup PATH and those below it\n"
	"      --merge-by=WHAT   of several processes, show those of one name, one cgroup\n"
	"                        or one user as one\n"
	"\n"
	"Options:\n"
	"  -F, --frequency=FREQ  samples per second of CPU time, for each thread:\n"
	"                        1 to 20000, or 1khz, 10khz (default: 1000)\n"
	"      --max-overhead=PERCENT  sample less often where more would cost over so\n"
	"                        much of the targets' CPU time; or none (default: none;\n"
	"                        with --system: " OVERHEAD_SYSTEM_TEXT ")\n"
	"      --sort=COLUMN     what to sort by at first: self, total (in the last\n"
	"                        second), all-self, all-total or name (default: self)\n"
	"      --max-depth=N     frames to keep of a stack, 1 to " DEPTH_MAX_TEXT "\n"
	"                        (default: " DEPTH_TEXT ")\n"
	"      --wait            where there is no Lua yet, wait for one to be loaded\n"
	"      --layout=NAME     read its Lua as that of release NAME, such as 5.4.6\n"
	"                        (--layout=help lists them)\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status:\n"
	"  0  it was shown until it was quit, or its process had ended\n"
	"  1  it failed\n"
	"  2  the command line is wrong, or there is no terminal\n"
	"  3  there is nothing to show: no Lua found\n";

enum { OPTION_SORT = 256, OPTION_MAX_OVERHEAD, OPTION_MAX_DEPTH, OPTION_WAIT, OPTION_LAYOUT };

static const struct usage_option accepted[] = {
	TARGET_CHOICE_OPTIONS,
	TARGET_CHOICE_MERGING,
	{'F', "--frequency", "1 to 20000 Hz, such as 1000, 250hz or 10khz"},
	{OPTION_MAX_OVERHEAD, "--max-overhead", "0.01 to 100%, such as 0.5%, or none"},
	{OPTION_SORT, "--sort", LISTING_SORTS},
	{OPTION_MAX_DEPTH, "--max-depth", "a number of frames, 1 to " DEPTH_MAX_TEXT},
	{OPTION_WAIT, "--wait", NULL},
	{OPTION_LAYOUT, "--layout", "a release such as 5.4.6, or help, which lists them"},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

/* Takes one option with its value, as getopt_long() left it in optarg. */
static int set_option(int letter, struct top_options *top)
{
	int err = target_choice__set(&top->targets, letter, optarg);

	if (err != -ENOTSUP)
		return err;
	err = 0;
	switch (letter) {
	case 'F':
		err = units__parse_frequency(optarg, &top->period_ns);
		break;
	case OPTION_MAX_OVERHEAD:
		err = units__parse_limit(optarg, &top->max_overhead_ppm);
		break;
	case OPTION_SORT:
		err = listing__find_column(optarg);
		if (err >= 0) {
			top->sort = (enum listing_column)err;
			err = 0;
		}
		break;
	case OPTION_MAX_DEPTH:
		err = usage__parse_number(optarg, LS_DEPTH_MAX, &top->max_depth);
		break;
	case OPTION_WAIT:
		top->waits = true;
		break;
	case OPTION_LAYOUT:
		top->layout = optarg;
		err = layout_puc__find(optarg) < 0 ? -EINVAL : 0;
		break;
	}
	return err;
}

enum options_verdict options_top__help(void)
{
	return usage__print(top_help);
}

enum options_verdict options_top__parse(int argc, char **argv, struct top_options *top)
{
	bool has_max_overhead = false;
	int letter, err;

	*top = (struct top_options){.period_ns = PERIOD_DEFAULT, .max_depth = DEPTH_DEFAULT};
	usage__begin();
	while ((letter = usage__next(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_top__help();
		if (letter == OPTION_LAYOUT && !strcmp(optarg, "help"))
			return options_record__print_layouts();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		has_max_overhead |= letter == OPTION_MAX_OVERHEAD;
		err = set_option(letter, top);
		if (err == -E2BIG) {
			target_choice__explain_too_many(optarg);
			return OPTIONS_WRONG;
		}
		if (err)
			return usage__refuse_value(accepted, letter, optarg, err);
	}
	if (optind < argc)
		return usage__stray(argv[optind], argv[0]);
	if (top->targets.system && !has_max_overhead)
		top->max_overhead_ppm = OVERHEAD_SYSTEM_PPM;
	if (target_choice__check(&top->targets, false))
		return OPTIONS_WRONG;
	if (top->targets.pid_count || top->targets.system)
		return OPTIONS_RUN;
	log_error("missing option '--pid': which process? (accepted: %s; or '--system')",
		  usage__accepted(accepted, 'p'));
	return OPTIONS_WRONG;
}
