/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_offline.h"

#include <getopt.h>

#include "options/usage.h"
#include "reader/input_format.h"

static const char open_help[] =
	"Examples:\n"
	"  luaspy open profile.json     show a recording in the browser\n"
	"  luaspy open profile.json --no-browser  print the name of the page\n"
	"\n"
	"Usage: luaspy open FILE [OPTION]...\n"
	"\n"
	"Makes a page of a recording, with flame graph and tables, and has the desktop\n"
	"show it (xdg-open). Under sudo, the page and the browser are those of the user\n"
	"who called sudo.\n"
	"\n" INPUT_FORMAT_HELP "\n"
	"\n"
	"The page is a file that nobody else can read, in XDG_RUNTIME_DIR, else in\n"
	"TMPDIR, else in /tmp. It stays there, for the browser. Where there is no\n"
	"desktop, luaspy prints its name.\n"
	"\n"
	"Options:\n"
	"      --no-browser  only make the page, and print its name\n"
	"      --no-source   leave out the text of hot lines. It is read from files in\n"
	"                    this folder or that of the recording, unless they changed\n"
	"                    since\n"
	"  -h, --help        show this help\n"
	"\n"
	"Exit status:\n"
	"  0  the desktop shows the page; with --no-browser, it was made\n"
	"  1  luaspy failed, or there is no desktop\n"
	"  2  the command line is wrong\n";

enum { OPTION_NO_BROWSER = 256, OPTION_NO_SOURCE };

static const struct usage_option accepted[] = {
	{OPTION_NO_BROWSER, "--no-browser", NULL},
	{OPTION_NO_SOURCE, "--no-source", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

enum options_verdict options_open__parse(int argc, char **argv, struct open_options *open)
{
	int letter;

	usage__begin();
	while ((letter = usage__next_or_word(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_open__help();
		open->no_browser |= letter == OPTION_NO_BROWSER;
		open->no_source |= letter == OPTION_NO_SOURCE;
		if (letter == OPTION_NO_BROWSER || letter == OPTION_NO_SOURCE)
			continue;
		if (letter != USAGE_WORD)
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		if (open->file)
			return usage__stray(optarg, argv[0]);
		open->file = optarg;
	}
	if (open->file)
		return OPTIONS_RUN;
	log_error("missing file: which recording? (try 'luaspy open profile.json')");
	return OPTIONS_WRONG;
}

enum options_verdict options_open__help(void)
{
	return usage__print(open_help);
}
