/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>

#include "base/units.h"
#include "options/options_offline.h"
#include "options/output_options.h"
#include "reader/input_format.h"

static const char help[] =
	"Examples:\n"
	"  luaspy trim in.json --from 2s --to 5s -o out.json    three seconds of it\n"
	"  luaspy trim in.json --mark load --mark serve -o load.svg  from mark to mark\n"
	"\n"
	"Usage: luaspy trim FILE -o FILE [OPTION]...\n"
	"\n"
	"Cuts a part of the time out of a recording that was made with 'record\n"
	"--timeline', or of a .cpuprofile. Each sample counts as an equal part of the\n"
	"time of its stack, so the parts of a recording add up to the whole.\n"
	"\n" INPUT_FORMAT_HELP "\n"
	"\n"
	"Which part:\n"
	"      --from=TIME        begin this long after the start: 500ms, 2s, 1.5m\n"
	"                         (default: at the start)\n"
	"      --to=TIME          end this long after the start (default: at the end)\n"
	"      --mark=TEXT        instead, begin at the first mark with this text, and\n"
	"                         end at the next mark. Given twice: end at the second\n"
	"                         text. 'record --control' sets marks\n"
	"\n"
	"Options:\n" OUTPUT_OPTIONS_HELP "  -h, --help             show this help\n";

static const char exit_status[] =
	"\n"
	"Exit status:\n"
	"  0  luaspy wrote all files\n"
	"  1  luaspy failed: there is no order of samples, or no such mark\n"
	"  2  the command line is wrong\n";

enum { OPTION_FROM = 256, OPTION_TO, OPTION_MARK };

#define DURATION "a time such as 500ms, 30, 1.5s, 5m or 1h, up to 365 days"

static const struct usage_option accepted[] = {
	{OPTION_FROM, "--from", "0, or " DURATION},
	{OPTION_TO, "--to", DURATION},
	{OPTION_MARK, "--mark", "the text of a mark, at most twice"},
	OUTPUT_OPTIONS,
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static int set_start(struct trim_options *trim)
{
	trim->has_from = true;
	return units__parse_moment(optarg, &trim->from_ns);
}

static enum options_verdict set_part(struct trim_options *trim, int letter)
{
	int error = 0;

	if (letter == OPTION_FROM)
		error = set_start(trim);
	else if (letter == OPTION_TO)
		error = units__parse_duration(optarg, &trim->to_ns);
	else if (!*optarg || trim->marks[1])
		error = *optarg ? -ERANGE : -EINVAL;
	else
		trim->marks[trim->marks[0] != NULL] = optarg;
	return error ? usage__refuse_value(accepted, letter, optarg, error) : OPTIONS_RUN;
}

static enum options_verdict check(struct trim_options *trim)
{
	if (!trim->input) {
		log_error("missing file: which recording? (try 'luaspy trim in.json --from 2s "
			  "--to 5s -o out.json')");
		return OPTIONS_WRONG;
	}
	if (trim->marks[0] && (trim->has_from || trim->to_ns)) {
		log_error("'--mark' and '%s' both say which part: give one of them",
			  trim->has_from ? "--from" : "--to");
		return OPTIONS_WRONG;
	}
	if (!trim->marks[0] && !trim->has_from && !trim->to_ns) {
		log_error("missing part: which time? (accepted: '--from TIME', '--to TIME', "
			  "'--mark TEXT')");
		return OPTIONS_WRONG;
	}
	if (trim->to_ns && trim->from_ns >= trim->to_ns) {
		log_error("the part is empty: '--from' has to be before '--to'");
		return OPTIONS_WRONG;
	}
	return output_options__check(&trim->outputs);
}

enum options_verdict options_trim__parse(int argc, char **argv, struct trim_options *trim)
{
	enum options_verdict verdict = OPTIONS_RUN;
	int letter;

	usage__begin();
	while (verdict == OPTIONS_RUN &&
	       (letter = usage__next_or_word(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_trim__help();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		if (letter == USAGE_WORD && trim->input)
			return usage__stray(optarg, argv[0]);
		if (letter == USAGE_WORD)
			trim->input = optarg;
		else if (letter == OPTION_FROM || letter == OPTION_TO || letter == OPTION_MARK)
			verdict = set_part(trim, letter);
		else
			verdict = output_options__set(accepted, letter, optarg, &trim->outputs,
						      &trim->mode);
	}
	return verdict == OPTIONS_RUN ? check(trim) : verdict;
}

enum options_verdict options_trim__help(void)
{
	return output_choice__print_help(help, exit_status) ? OPTIONS_DONE : OPTIONS_FAILED;
}
