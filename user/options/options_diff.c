/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/units.h"
#include "options/options_offline.h"
#include "options/output_options.h"
#include "reader/input_format.h"

static const char help[] =
	"Examples:\n"
	"  luaspy diff before.json after.json              what became slower\n"
	"  luaspy diff a1.json a2.json -- b1.json b2.json  several recordings of each\n"
	"  luaspy diff before.json after.json --fail-over 5%  for CI: exit status 4\n"
	"  luaspy diff before.json after.json -o diff.svg  a flame graph of it\n"
	"\n"
	"Usage: luaspy diff BEFORE AFTER [OPTION]...\n"
	"       luaspy diff BEFORE... -- AFTER... [OPTION]...\n"
	"\n"
	"Shows which functions and stacks take a larger or smaller share of the CPU time\n"
	"than before, and tells changes from noise.\n"
	"\n" INPUT_FORMAT_HELP "\n"
	"\n"
	"There are two kinds of noise. Sampling: a share p of N samples has the standard\n"
	"error sqrt(p (1 - p) / N), so ten times the samples have a third of the error.\n"
	"And runs differ: a function never takes exactly the same time twice. '--noise'\n"
	"says by how much; if several recordings of a side differ by more, that counts.\n"
	"luaspy tests each change with Student's distribution, and corrects for the\n"
	"number of functions and stacks (Holm). '--confidence' is the chance that none of\n"
	"the changes it shows is noise.\n"
	"\n"
	"Options:\n"
	"      --by-time          compare CPU time, in percent of that before, instead of\n"
	"                         shares of each recording: for runs that do the same\n"
	"                         work\n"
	"      --noise=PERCENT    by how much the time of a function differs from run to\n"
	"                         run, at least (default: 2%, or 8% with one\n"
	"                         recording on each side)\n"
	"      --confidence=PERCENT  the chance that no change shown is noise (default:\n"
	"                         99.9%)\n"
	"      --fail-over=PERCENT  exit with 4 if the self or total time of a function\n"
	"                         grew by this share of all CPU time or more, beyond\n"
	"                         noise\n"
	"      --limit=N          show N rows in a table (default: 20)\n"
	"  -o, --output=FILE      write a flame graph (.svg) of both sides\n"
	"      --mode=OCTAL       its permissions, such as 600 or 644 (default: 640 less\n"
	"                         the umask, or those of the file that is replaced)\n"
	"      --json             print JSON, with all functions and stacks\n"
	"  -h, --help             show this help\n"
	"\n"
	"Exit status:\n"
	"  0  luaspy compared them; with '--fail-over', nothing is worse beyond noise\n"
	"  1  luaspy failed\n"
	"  2  the command line is wrong\n"
	"  4  with '--fail-over', something is worse\n";

enum { OPTION_BY_TIME = 256, OPTION_NOISE, OPTION_CONFIDENCE, OPTION_FAIL_OVER, OPTION_LIMIT };
enum { OPTION_JSON = 300 };

#define LIMIT_MOST 100000

/*
 * By how much functions differ from run to run: as measured on a busy machine, which is assumed
 * where two recordings cannot tell, and the least that several recordings are taken to differ by.
 */
#define NOISE_BUSY_PPM  80000
#define NOISE_LEAST_PPM 20000

static const struct usage_option accepted[] = {
	{OPTION_BY_TIME, "--by-time", NULL},
	{OPTION_NOISE, "--noise", "a percentage such as 2% or 0.5%"},
	{OPTION_CONFIDENCE, "--confidence", "a percentage from 50% to 99.9999%"},
	{OPTION_FAIL_OVER, "--fail-over", "a percentage such as 5% or 0.5%"},
	{OPTION_LIMIT, "--limit", "a number of rows, 1 to 100000"},
	{'o', "--output", "a file name that ends in .svg, or - for standard output"},
	{OUTPUT_OPTIONS_MODE, "--mode", USAGE_MODE},
	{OPTION_JSON, "--json", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static int set_output(const char *path, struct diff_options *diff)
{
	size_t length = strlen(path);

	diff->output = path;
	if (!strcmp(path, "-") || !strncmp(path, "/dev/", 5))
		return 0;
	return length > 4 && !strcasecmp(path + length - 4, ".svg") ? 0 : -EINVAL;
}

static int set_confidence(const char *text, struct diff_options *diff)
{
	int error = units__parse_percent(text, &diff->confidence_ppm);

	return !error && (diff->confidence_ppm < 500000 || diff->confidence_ppm > 999999) ? -ERANGE
											  : error;
}

static enum options_verdict set_option(struct diff_options *diff, int letter)
{
	int error = 0;

	if (letter == OPTION_BY_TIME)
		diff->by_time = true;
	else if (letter == OPTION_JSON)
		diff->json = true;
	else if (letter == OPTION_NOISE)
		error = units__parse_limit(optarg, &diff->noise_ppm);
	else if (letter == OPTION_CONFIDENCE)
		error = set_confidence(optarg, diff);
	else if (letter == OPTION_LIMIT)
		error = usage__parse_number(optarg, LIMIT_MOST, &diff->limit);
	else if (letter == 'o')
		error = set_output(optarg, diff);
	else if (letter == OUTPUT_OPTIONS_MODE)
		error = usage__parse_mode(optarg, &diff->mode);
	else
		error = units__parse_percent(optarg, &diff->fail_over_ppm);
	diff->has_fail_over |= letter == OPTION_FAIL_OVER;
	diff->has_noise |= letter == OPTION_NOISE;
	return error ? usage__refuse_value(accepted, letter, optarg, error) : OPTIONS_RUN;
}

/* A word behind the first "--" is of the other side. */
static enum options_verdict add_input(struct diff_options *diff, int argc, char **argv)
{
	bool is_behind_dashes = !strcmp(argv[optind - 2], "--");

	if (is_behind_dashes && diff->before_count) {
		log_error("unexpected second '--' before '%s': there are two sides, before and "
			  "after",
			  optarg);
		return OPTIONS_WRONG;
	}
	if (is_behind_dashes)
		diff->before_count = diff->input_count;
	return output_options__add_input(argc, argv, &diff->input_count, optarg);
}

static enum options_verdict check(struct diff_options *diff)
{
	if (diff->input_count == 2 && !diff->before_count)
		diff->before_count = 1;
	if (!diff->before_count || diff->before_count == diff->input_count) {
		log_error("%s (try 'luaspy diff before.json after.json', or 'luaspy diff a1.json "
			  "a2.json -- b1.json b2.json')",
			  diff->input_count < 2 ? "missing files: which recordings?"
						: "which of the files are from before the change, "
						  "and which from after?");
		return OPTIONS_WRONG;
	}
	if (diff->json && diff->output && !strcmp(diff->output, "-")) {
		log_error("'--json' and '--output -' both go to standard output: give one of them");
		return OPTIONS_WRONG;
	}
	/* Two recordings do not tell by how much runs differ. */
	if (!diff->has_noise)
		diff->noise_ppm = diff->input_count == 2 ? NOISE_BUSY_PPM : NOISE_LEAST_PPM;
	return OPTIONS_RUN;
}

enum options_verdict options_diff__parse(int argc, char **argv, struct diff_options *diff)
{
	enum options_verdict verdict = OPTIONS_RUN;
	int letter;

	usage__begin();
	diff->inputs = argv + 1;
	diff->confidence_ppm = 999000;
	diff->limit = 20;
	while (verdict == OPTIONS_RUN &&
	       (letter = usage__next_or_word(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_diff__help();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		verdict = letter == USAGE_WORD ? add_input(diff, argc, argv)
					       : set_option(diff, letter);
	}
	return verdict == OPTIONS_RUN ? check(diff) : verdict;
}

enum options_verdict options_diff__help(void)
{
	return usage__print(help);
}
