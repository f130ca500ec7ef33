/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options.h"

#include <getopt.h>
#include <string.h>

#include "options_dump.h"
#include "options_record.h"
#include "options_top.h"
#include "usage.h"

#ifndef LUASPY_VERSION
#define LUASPY_VERSION "unknown"
#endif

static const char general_help[] =
	"Examples:\n"
	"  sudo luaspy record -p 1234                      sample until Ctrl-C\n"
	"  sudo luaspy record -p 1234 -d 30 -o out.json    half a minute, into out.json\n"
	"  sudo luaspy record -- lua5.4 app.lua            start a command, until it ends\n"
	"  sudo luaspy record -p 1234 -d 10s -F 10khz      ten seconds, ten times as fine\n"
	"  sudo luaspy record -p 1234 -d 5m -o - | gzip > out.json.gz\n"
	"  sudo luaspy top -p 1234                         watch its functions, live\n"
	"  sudo luaspy top --system                        those of all Lua of this host\n"
	"  sudo luaspy dump -p 1234                        where it is right now\n"
	"\n"
	"Usage: luaspy COMMAND [OPTION]...\n"
	"\n"
	"Tells which Lua functions a running process spends its CPU time in. It looks\n"
	"from outside: the process is not restarted, stopped or changed.\n"
	"\n"
	"Commands:\n"
	"  record          sample a process or a command, write a profile and a summary\n"
	"  top             show which functions processes are in, every second\n"
	"  dump            show the stacks of a process's script threads right now\n"
	"  check           tell what this machine, your privileges and a process allow\n"
	"  help [COMMAND]  all options of a command\n"
	"\n"
	"Options:\n"
	"  -h, --help      this text\n"
	"      --version   the version of luaspy\n" USAGE_EXIT_STATUS;

static const char check_help[] =
	"Examples:\n"
	"  sudo luaspy check            what this machine and your privileges allow\n"
	"  sudo luaspy check -p 1234    and whether that process can be profiled\n"
	"\n"
	"Usage: luaspy check [OPTION]...\n"
	"\n"
	"Prints a line for each thing that a recording depends on, and a remedy for what\n"
	"is wrong. With a process it samples that for up to two seconds, to tell the Lua\n"
	"in it and why its layout is trusted.\n"
	"\n"
	"Options:\n"
	"  -p, --pid=PID  the process to look into\n"
	"  -v, --verbose  show all that the kernel says where it refuses the BPF programs\n"
	"  -h, --help     this text\n"
	"\n"
	"Exit status:\n"
	"  0  a recording would work\n"
	"  1  it would not\n"
	"  2  the command line is wrong\n"
	"  3  the process has no Lua that is known\n";

static const struct usage_option check_accepted[] = {
	{'p', "--pid", USAGE_PID},
	{'v', "--verbose", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static const char *const command_words[] = {"record", "top",    "dump",      "check",
					    "help",   "--help", "--version", NULL};

static enum options_verdict parse_check(int argc, char **argv, struct check_options *check)
{
	uint32_t pid;
	int letter, err;

	check->log_level = LOG_ERROR;
	usage__begin();
	while ((letter = usage__next(check_accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return usage__print(check_help);
		if (letter == 'v') {
			check->log_level = LOG_DEBUG;
			continue;
		}
		if (letter != 'p')
			return usage__refuse_option(check_accepted, argv[0], letter,
						    argv[optind - 1]);
		err = usage__parse_number(optarg, USAGE_PID_LAST, &pid);
		if (err)
			return usage__refuse_value(check_accepted, letter, optarg, err);
		check->pid = (pid_t)pid;
	}
	return optind < argc ? usage__stray(argv[optind], argv[0]) : OPTIONS_RUN;
}

/* luaspy help [COMMAND] */
static enum options_verdict print_help(int argc, char **argv)
{
	if (argc > 2)
		return usage__stray(argv[2], "help COMMAND");
	if (argc < 2 || !strcmp(argv[1], "help"))
		return usage__print(general_help);
	if (!strcmp(argv[1], "record"))
		return options_record__help();
	if (!strcmp(argv[1], "check"))
		return usage__print(check_help);
	if (!strcmp(argv[1], "dump"))
		return options_dump__help();
	if (!strcmp(argv[1], "top"))
		return options_top__help();
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
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_help(argc - 1, argv + 1);
	if (!strcmp(word, "--version")) {
		if (argc > 2)
			return usage__stray(argv[2], "--version");
		return usage__print("luaspy " LUASPY_VERSION "\n");
	}
	return usage__unknown_command(word, command_words);
}
