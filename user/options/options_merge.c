/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <getopt.h>

#include "options/options_offline.h"
#include "options/output_options.h"
#include "reader/input_format.h"

static const char help[] =
	"Examples:\n"
	"  luaspy merge a.json b.json -o all.json          one recording of two\n"
	"  luaspy merge day/*.json --together -o day.html  of a folder, as a page\n"
	"\n"
	"Usage: luaspy merge FILE... -o FILE [OPTION]...\n"
	"\n"
	"Makes one recording of several: their time and samples add up, and functions of\n"
	"one source, name and line become one. Processes stay apart, each in categories\n"
	"of its own. With 'record --timeline', the order of samples and the marks stay,\n"
	"too, and what no recording covers is a pause.\n"
	"\n" INPUT_FORMAT_HELP "\n"
	"\n"
	"Options:\n" OUTPUT_OPTIONS_HELP
	"      --together         put categories of one name together, such as those of\n"
	"                         several runs of a program; their timelines must\n"
	"                         have one sampling frequency\n"
	"  -h, --help             show this help\n";

static const char exit_status[] = "\n"
				  "Exit status:\n"
				  "  0  luaspy wrote all files\n"
				  "  1  luaspy failed\n"
				  "  2  the command line is wrong\n";

enum { OPTION_TOGETHER = 256 };

static const struct usage_option accepted[] = {
	OUTPUT_OPTIONS,
	{OPTION_TOGETHER, "--together", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static enum options_verdict check(struct merge_options *merge)
{
	if (!merge->input_count) {
		log_error("missing files: which recordings? (try 'luaspy merge a.json b.json -o "
			  "all.json')");
		return OPTIONS_WRONG;
	}
	return output_options__check(&merge->outputs);
}

enum options_verdict options_merge__parse(int argc, char **argv, struct merge_options *merge)
{
	enum options_verdict verdict = OPTIONS_RUN;
	int letter;

	usage__begin();
	merge->inputs = argv + 1;
	while (verdict == OPTIONS_RUN &&
	       (letter = usage__next_or_word(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_merge__help();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		if (letter == USAGE_WORD)
			verdict =
				output_options__add_input(argc, argv, &merge->input_count, optarg);
		else if (letter == OPTION_TOGETHER)
			merge->together = true;
		else
			verdict = output_options__set(accepted, letter, optarg, &merge->outputs,
						      &merge->mode);
	}
	return verdict == OPTIONS_RUN ? check(merge) : verdict;
}

enum options_verdict options_merge__help(void)
{
	return output_choice__print_help(help, exit_status) ? OPTIONS_DONE : OPTIONS_FAILED;
}
