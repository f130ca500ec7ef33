/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_convert.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "options/usage.h"

static const char help[] =
	"Examples:\n"
	"  luaspy convert profile.json -o profile.svg      a flame graph\n"
	"  luaspy convert profile.json -o a.pb.gz -o a.speedscope.json\n"
	"  gzip -dc old.json.gz | luaspy convert - -f folded -o -\n"
	"\n"
	"Usage: luaspy convert FILE -o FILE [OPTION]...\n"
	"\n"
	"Writes a recording in other formats, without root and without the process. The\n"
	"FILE is ScriptProfiler JSON, version 2 or 1, of luaspy or of another program; -\n"
	"is standard input. Formats that show what ran when need a recording that was\n"
	"made with 'record --timeline'.\n"
	"\n"
	"Options:\n"
	"  -o, --output=FILE      what to write, in the format that the name's ending\n"
	"                         tells (the list is below); - is stdout. May be given\n"
	"                         more than once\n" OUTPUT_CHOICE_HELP
	"      --mode=OCTAL       the permissions of the files, such as 600 or 644 (default:\n"
	"                         640 less the umask, or those of a file that is replaced)\n"
	"  -h, --help             show this help\n";

static const char exit_status[] = "\n"
				  "Exit status:\n"
				  "  0  luaspy wrote all files\n"
				  "  1  luaspy failed\n"
				  "  2  the command line is wrong\n";

enum { OPTION_MODE = 256 };

static const struct usage_option accepted[] = {
	{'o', "--output", OUTPUT_CHOICE_OUTPUT},
	{'f', "--format", "a format's name, or help, which lists them"},
	{OPTION_MODE, "--mode", USAGE_MODE},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static enum options_verdict set_option(int letter, struct convert_options *convert)
{
	int err = 0;

	if (letter == 'o')
		err = output_choice__add(&convert->outputs, optarg);
	else if (letter == OPTION_MODE)
		err = usage__parse_mode(optarg, &convert->mode);
	else
		err = output_choice__set_format(&convert->outputs, optarg);
	if (err && letter == 'f')
		output_choice__refuse_format(optarg);
	else if (err == -E2BIG)
		output_choice__refuse_more(optarg);
	else if (err)
		return usage__refuse_value(accepted, letter, optarg, err);
	return err ? OPTIONS_WRONG : OPTIONS_RUN;
}

static enum options_verdict check(struct convert_options *convert)
{
	if (!convert->input) {
		log_error("missing file: which recording? (try 'luaspy convert profile.json -o "
			  "profile.svg')");
		return OPTIONS_WRONG;
	}
	if (!convert->outputs.count) {
		log_error(
			"missing option '--output': into which file? (accepted: " OUTPUT_CHOICE_OUTPUT
			", whose ending tells the format)");
		return OPTIONS_WRONG;
	}
	return output_choice__decide(&convert->outputs) ? OPTIONS_RUN : OPTIONS_WRONG;
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
		if (letter == 'f' && !strcmp(optarg, "help"))
			return output_choice__print_names() ? OPTIONS_DONE : OPTIONS_FAILED;
		verdict = set_option(letter, convert);
		if (verdict != OPTIONS_RUN)
			return verdict;
	}
	return check(convert);
}

enum options_verdict options_convert__help(void)
{
	return output_choice__print_help(help, exit_status) ? OPTIONS_DONE : OPTIONS_FAILED;
}
