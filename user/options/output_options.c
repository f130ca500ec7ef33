/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/output_options.h"

#include <errno.h>
#include <string.h>

enum options_verdict output_options__set(const struct usage_option *accepted, int letter,
					 const char *value, struct output_choice *outputs,
					 mode_t *mode)
{
	int error;

	if (letter == 'f' && !strcmp(value, "help"))
		return output_choice__print_names() ? OPTIONS_DONE : OPTIONS_FAILED;
	if (letter == 'o')
		error = output_choice__add(outputs, value);
	else if (letter == OUTPUT_OPTIONS_MODE)
		error = usage__parse_mode(value, mode);
	else
		error = output_choice__set_format(outputs, value);
	if (error && letter == 'f')
		output_choice__refuse_format(value);
	else if (error == -E2BIG)
		output_choice__refuse_more(value);
	else if (error)
		return usage__refuse_value(accepted, letter, value, error);
	return error ? OPTIONS_WRONG : OPTIONS_RUN;
}

enum options_verdict output_options__check(struct output_choice *outputs)
{
	if (!outputs->count) {
		log_error(
			"missing option '--output': into which file? (accepted: " OUTPUT_CHOICE_OUTPUT
			", whose ending chooses the format)");
		return OPTIONS_WRONG;
	}
	return output_choice__decide(outputs) ? OPTIONS_RUN : OPTIONS_WRONG;
}

enum options_verdict output_options__add_input(int argc, char **argv, size_t *count, char *word)
{
	if (*count + 1 >= (size_t)argc) {
		log_error("too many files: '%s' is one more than the command line has room for",
			  word);
		return OPTIONS_WRONG;
	}
	for (size_t i = 1; i <= *count && !strcmp(word, "-"); i++)
		if (!strcmp(argv[i], "-")) {
			log_error("standard input, '-', is given twice: it has one recording");
			return OPTIONS_WRONG;
		}
	argv[++*count] = word;
	return OPTIONS_RUN;
}
