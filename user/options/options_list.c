/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_live.h"

#include <getopt.h>
#include <string.h>

#include "base/log.h"
#include "options/usage.h"

static const char list_help[] =
	"Examples:\n"
	"  sudo luaspy list             the processes of this host that run Lua\n"
	"  sudo luaspy list --json      the same as JSON\n"
	"\n"
	"Usage: luaspy list [OPTION]...\n"
	"\n"
	"Shows each process that has an interpreter: its user, its share of a CPU since\n"
	"its start, the interpreter, and the script: the first argument that names a\n"
	"file, or else the command line.\n"
	"\n"
	"luaspy recognises an interpreter by the contents of the files that the process\n"
	"has mapped, and marks one that it cannot profile as 'not supported'. Whether an\n"
	"interpreter was modified shows only when it runs: 'luaspy check --pid=PID' takes\n"
	"samples of it. Standard error says how many processes luaspy could not inspect.\n"
	"\n"
	"Options:\n"
	"      --json     write JSON\n"
	"      --no-command-lines  show names instead of scripts and command lines, which\n"
	"                 may hold secrets\n"
	"  -h, --help     show this help\n"
	"\n"
	"Exit status:\n"
	"  0  luaspy can profile one of the processes, or more\n"
	"  1  luaspy failed\n"
	"  2  the command line is wrong\n"
	"  3  luaspy can profile none of them\n";

enum { OPTION_JSON = 256, OPTION_NO_COMMAND_LINES };

static const struct usage_option accepted[] = {
	{OPTION_JSON, "--json", NULL},
	{OPTION_NO_COMMAND_LINES, "--no-command-lines", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

enum options_verdict options_list__help(void)
{
	return usage__print(list_help);
}

static enum options_verdict refuse_word(const char *word, const char *command)
{
	if (word[strspn(word, "0123456789")])
		return usage__stray(word, command);
	log_error("unexpected argument '%s' (" USAGE_LISTS_ALL ")", word);
	return OPTIONS_WRONG;
}

enum options_verdict options_list__parse(int argc, char **argv, struct list_options *list)
{
	int letter;

	usage__begin();
	while ((letter = usage__next(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_list__help();
		if (letter != OPTION_JSON && letter != OPTION_NO_COMMAND_LINES)
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		list->json |= letter == OPTION_JSON;
		list->no_command_lines |= letter == OPTION_NO_COMMAND_LINES;
	}
	return optind < argc ? refuse_word(argv[optind], argv[0]) : OPTIONS_RUN;
}
