/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_offline.h"

#include <getopt.h>

#include "options/output_options.h"
#include "reader/input_format.h"

static const char help[] =
	"Examples:\n"
	"  luaspy convert profile.json -o profile.svg      a flame graph\n"
	"  luaspy convert profile.json -o a.pb.gz -o a.speedscope.json\n"
	"  luaspy convert chrome.cpuprofile -o profile.html\n"
	"\n"
	"Usage: luaspy convert FILE -o FILE [OPTION]...\n"
	"\n"
	"Writes a recording in other formats, without root and without the process.\n"
	"Formats that show what ran when need a recording that was made with 'record\n"
	"--timeline', or a .cpuprofile.\n"
	"\n" INPUT_FORMAT_HELP "\n"
	"\n"
	"Options:\n" OUTPUT_OPTIONS_HELP "  -h, --help             show this help\n";

static const char exit_status[] = "\n"
				  "Exit status:\n"
				  "  0  luaspy wrote all files\n"
				  "  1  luaspy failed\n"
				  "  2  the command line is wrong\n";

static const struct usage_option accepted[] = {
	OUTPUT_OPTIONS,
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static enum options_verdict check(struct convert_options *convert)
{
	if (!convert->input) {
		log_error("missing file: which recording? (try 'luaspy convert profile.json -o "
			  "profile.svg')");
		return OPTIONS_WRONG;
	}
	return output_options__check(&convert->outputs);
}

enum options_verdict options_convert__parse(int argc, char **argv, struct convert_options *convert)
{
	enum options_verdict verdict;
	int letter;

	usage__begin();
	while ((letter = usage__next_or_word(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_convert__help();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		if (letter == USAGE_WORD && convert->input)
			return usage__stray(optarg, argv[0]);
		if (letter == USAGE_WORD) {
			convert->input = optarg;
			continue;
		}
		verdict = output_options__set(accepted, letter, optarg, &convert->outputs,
					      &convert->mode);
		if (verdict != OPTIONS_RUN)
			return verdict;
	}
	return check(convert);
}

enum options_verdict options_convert__help(void)
{
	return output_choice__print_help(help, exit_status) ? OPTIONS_DONE : OPTIONS_FAILED;
}
