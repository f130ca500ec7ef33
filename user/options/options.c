/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options.h"

#include <getopt.h>
#include <string.h>

#include "options/options_live.h"
#include "options/options_offline.h"
#include "options/usage.h"

#ifndef LUASPY_VERSION
#define LUASPY_VERSION "unknown"
#endif

static const char general_help[] =
	"Examples:\n"
	"  sudo luaspy record -p 1234                      sample until Ctrl-C\n"
	"  sudo luaspy record -p 1234 -d 30 -o out.json    half a minute, into out.json\n"
	"  sudo luaspy record -- lua5.4 app.lua            start a command, until it ends\n"
	"  sudo luaspy record -p 1234 -d 10s -F 10khz      ten seconds, at 10 kHz\n"
	"  sudo luaspy record -p 1234 -d 5m -o - | gzip > out.json.gz  into a pipe\n"
	"  sudo luaspy list                                list what luaspy can profile\n"
	"  sudo luaspy top 1234                            watch its functions, live\n"
	"  sudo luaspy top --system                        watch all Lua on this host\n"
	"  sudo luaspy dump 1234                           print its call stacks now\n"
	"  luaspy report out.json --view tree              the call tree of a recording\n"
	"  luaspy open out.json                            show it in the browser\n"
	"\n"
	"Usage: luaspy COMMAND [OPTION]...\n"
	"\n"
	"Samples the call stacks of Lua programs, and shows which functions they spend\n"
	"their CPU time in. It attaches to running processes from outside: it does not\n"
	"restart, stop or change them.\n"
	"\n"
	"Commands:\n"
	"  record          sample a process or a command, write a profile and a summary\n"
	"  top             show every second which functions use the CPU\n"
	"  dump            print the call stacks of a process right now\n"
	"  list            list the processes that luaspy can profile\n"
	"  check           show what this host, your privileges and a process allow\n"
	"  report          print a recording: functions, call tree, hot lines ...\n"
	"  open            show a recording in the browser\n"
	"  convert         write a recording in other formats, for other programs\n"
	"  merge           make one recording of several\n"
	"  trim            cut a part of the time out of a recording\n"
	"  diff            show which functions became slower between recordings\n"
	"  help [COMMAND]  show all options of a command\n"
	"\n"
	"Options:\n"
	"  -h, --help      show this help\n"
	"  -V, --version   show the version of luaspy\n" USAGE_EXIT_STATUS;

static const char check_help[] =
	"Examples:\n"
	"  sudo luaspy check            what this host and your privileges allow\n"
	"  sudo luaspy check 1234       and whether that process can be profiled\n"
	"\n"
	"Usage: luaspy check [OPTION]...\n"
	"\n"
	"Prints a line for each requirement of a recording, and a remedy for each\n"
	"problem. With a process, samples it for up to two seconds to identify its\n"
	"interpreter and to show why luaspy trusts the layout.\n"
	"\n"
	"Options:\n"
	"  -p, --pid=PID     the process to check; '-p' may be omitted\n"
	"      --name=REGEX  instead, the only process with an interpreter whose name\n"
	"                    matches, or whose program and script do\n"
	"      --no-command-lines  call processes by their names alone, not by their\n"
	"                    scripts or command lines, which may hold secrets\n"
	"  -v, --verbose     show the kernel's whole log if it refuses the BPF programs\n"
	"  -h, --help        show this help\n"
	"\n"
	"Exit status:\n"
	"  0  a recording would work\n"
	"  1  a recording would fail\n"
	"  2  the command line is wrong, or several processes fit '--name'\n"
	"  3  the process has no interpreter, or one that is not supported\n";

enum { OPTION_NO_COMMAND_LINES = 256 };

static const struct usage_option check_accepted[] = {
	{'p', "--pid", USAGE_PID},
	TARGET_CHOICE_NAMING,
	{OPTION_NO_COMMAND_LINES, "--no-command-lines", NULL},
	{'v', "--verbose", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static const char *const command_words[] = {"record", "top",  "dump",    "check",     "list",
					    "report", "open", "convert", "merge",     "trim",
					    "diff",   "help", "--help",  "--version", NULL};

static enum options_verdict parse_check(int argc, char **argv, struct check_options *check)
{
	int letter, error;

	check->log_level = LOG_ERROR;
	usage__begin();
	while ((letter = usage__next_or_pid(check_accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return usage__print(check_help);
		if (letter == 'v')
			check->log_level = LOG_DEBUG;
		if (letter == OPTION_NO_COMMAND_LINES)
			check->no_command_lines = true;
		if (letter == 'v' || letter == OPTION_NO_COMMAND_LINES)
			continue;
		if (letter == '?' || letter == ':')
			return usage__refuse_option(check_accepted, argv[0], letter,
						    argv[optind - 1]);
		if ((letter == 'p' || letter == USAGE_WORD) && check->pid)
			return usage__second_process(optarg, argv[0]);
		error = target_choice__set_one(&check->pid, &check->criteria, letter, optarg);
		if (error && letter == TARGET_CHOICE_NAME)
			return usage__refuse_value(check_accepted, letter, optarg, error);
		if (error)
			return usage__refuse_pid(optarg, error);
	}
	if (optind < argc)
		return usage__stray_word(argv[optind], false);
	return target_choice__check_one(check->pid, &check->criteria) ? OPTIONS_WRONG : OPTIONS_RUN;
}

static enum options_verdict print_version(void)
{
	return usage__print("luaspy " LUASPY_VERSION "\n");
}

static bool is_version(const char *word)
{
	return !strcmp(word, "--version") || !strcmp(word, "-V");
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* luaspy help [COMMAND] */
static enum options_verdict print_help(int argc, char **argv)
{
	if (argc > 2)
		return usage__stray(argv[2], "help COMMAND");
	if (argc < 2 || is_help(argv[1]))
		return usage__print(general_help);
	if (is_version(argv[1]))
		return print_version();
	if (!strcmp(argv[1], "record"))
		return options_record__help();
	if (!strcmp(argv[1], "check"))
		return usage__print(check_help);
	if (!strcmp(argv[1], "dump"))
		return options_dump__help();
	if (!strcmp(argv[1], "top"))
		return options_top__help();
	if (!strcmp(argv[1], "list"))
		return options_list__help();
	if (!strcmp(argv[1], "report"))
		return options_report__help();
	if (!strcmp(argv[1], "open"))
		return options_open__help();
	if (!strcmp(argv[1], "convert"))
		return options_convert__help();
	if (!strcmp(argv[1], "merge"))
		return options_merge__help();
	if (!strcmp(argv[1], "trim"))
		return options_trim__help();
	if (!strcmp(argv[1], "diff"))
		return options_diff__help();
	return usage__unknown_command(argv[1], command_words);
}

enum options_verdict options__parse(int argc, char **argv, struct options *options)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	memset(options, 0, sizeof(*options));
	if (!word) {
		log_error("missing command (try 'luaspy record -p PID', or see 'luaspy --help')");
		return OPTIONS_WRONG;
	}
	if (!strcmp(word, "record")) {
		options->command = COMMAND_RECORD;
		return options_record__parse(argc - 1, argv + 1, &options->record);
	}
	if (!strcmp(word, "check")) {
		options->command = COMMAND_CHECK;
		return parse_check(argc - 1, argv + 1, &options->check);
	}
	if (!strcmp(word, "dump")) {
		options->command = COMMAND_DUMP;
		return options_dump__parse(argc - 1, argv + 1, &options->dump);
	}
	if (!strcmp(word, "top")) {
		options->command = COMMAND_TOP;
		return options_top__parse(argc - 1, argv + 1, &options->top);
	}
	if (!strcmp(word, "list")) {
		options->command = COMMAND_LIST;
		return options_list__parse(argc - 1, argv + 1, &options->list);
	}
	if (!strcmp(word, "convert")) {
		options->command = COMMAND_CONVERT;
		return options_convert__parse(argc - 1, argv + 1, &options->convert);
	}
	if (!strcmp(word, "report")) {
		options->command = COMMAND_REPORT;
		return options_report__parse(argc - 1, argv + 1, &options->report);
	}
	if (!strcmp(word, "open")) {
		options->command = COMMAND_OPEN;
		return options_open__parse(argc - 1, argv + 1, &options->open);
	}
	if (!strcmp(word, "merge")) {
		options->command = COMMAND_MERGE;
		return options_merge__parse(argc - 1, argv + 1, &options->merge);
	}
	if (!strcmp(word, "trim")) {
		options->command = COMMAND_TRIM;
		return options_trim__parse(argc - 1, argv + 1, &options->trim);
	}
	if (!strcmp(word, "diff")) {
		options->command = COMMAND_DIFF;
		return options_diff__parse(argc - 1, argv + 1, &options->diff);
	}
	if (is_help(word))
		return print_help(argc - 1, argv + 1);
	if (is_version(word))
		return argc > 2 ? usage__stray(argv[2], word) : print_version();
	return usage__unknown_command(word, command_words);
}
