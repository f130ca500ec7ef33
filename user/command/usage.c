/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "usage.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

#define SUGGESTION_SIZE 64

void usage__begin(void)
{
	/* 0, not 1: with the rest of an earlier command line forgotten too. */
	optind = 0;
	opterr = 0;
}

int usage__next(const struct usage_option *options, int argc, char **argv)
{
	struct option longs[USAGE_OPTIONS_MAX + 1] = {{0}};
	char letters[2 * USAGE_OPTIONS_MAX + 3] = "+:", *end = letters + 2;

	for (size_t i = 0; options[i].name && i < USAGE_OPTIONS_MAX; i++) {
		longs[i] = (struct option){options[i].name + 2,
					   options[i].value ? required_argument : no_argument, NULL,
					   options[i].letter};
		if (options[i].letter > UINT8_MAX)
			continue;
		*end++ = (char)options[i].letter;
		if (options[i].value)
			*end++ = ':';
	}
	return getopt_long(argc, argv, letters, longs, NULL);
}

enum options_verdict usage__print(const char *text)
{
	if (fputs(text, stdout) != EOF && !fflush(stdout))
		return OPTIONS_DONE;
	log_error("cannot write to standard output: %s", strerror(errno));
	return OPTIONS_FAILED;
}

/* Levenshtein. A word too long to be a slip of any of ours is far. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[SUGGESTION_SIZE], length = strlen(b);

	if (strlen(a) >= SUGGESTION_SIZE || length >= SUGGESTION_SIZE)
		return SUGGESTION_SIZE;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[length];
}

/*
 * How many letters may differ: two or a third of them; of three one, and of four only those behind
 * the first.
 */
static size_t near_distance(const char *typed, const char *word)
{
	size_t near = strlen(word) / 3;
	const char *letters = word + strspn(word, "-");

	if (near >= 2 && strlen(letters) > 4)
		return near;
	if (strlen(word) < 4)
		return 1;
	return strlen(letters) > 4 || typed[strspn(typed, "-")] == *letters ? 2 : 1;
}

/* A word that `typed` may have meant: it begins so, or nearly is it. */
static const char *nearest(const char *typed, const char *const *words)
{
	const char *best = NULL;
	size_t best_distance = SUGGESTION_SIZE;

	for (; *words; words++) {
		size_t distance = edit_distance(typed, *words);

		if (strlen(typed) > 2 && !strncmp(typed, *words, strlen(typed)))
			distance = 1;
		if (distance <= near_distance(typed, *words) && distance < best_distance) {
			best = *words;
			best_distance = distance;
		}
	}
	return best;
}

enum options_verdict usage__unknown_command(const char *typed, const char *const *words)
{
	const char *meant = nearest(typed, words);
	const char *kind = *typed == '-' ? "option" : "command";

	if (meant)
		log_error("unknown %s '%s' (did you mean '%s'?)", kind, typed, meant);
	else
		log_error("unknown %s '%s' (see 'luaspy --help')", kind, typed);
	return OPTIONS_WRONG;
}

enum options_verdict usage__stray(const char *argument, const char *after)
{
	log_error("unexpected argument '%s' after 'luaspy %s' (see 'luaspy --help')", argument,
		  after);
	return OPTIONS_WRONG;
}

static enum options_verdict unknown_option(const struct usage_option *options, const char *command,
					   const char *typed)
{
	const char *names[USAGE_OPTIONS_MAX + 1];
	char name[SUGGESTION_SIZE];
	const char *meant;
	size_t i;

	for (i = 0; options[i].name && i < USAGE_OPTIONS_MAX; i++)
		names[i] = options[i].name;
	names[i] = NULL;
	/* "--periode=3": the value is not what is unknown. */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed, "="), typed);
	meant = nearest(name, names);
	if (meant)
		log_error("unknown option '%s' (did you mean '%s'?)", typed, meant);
	else
		log_error("unknown option '%s' (see 'luaspy %s --help')", typed, command);
	return OPTIONS_WRONG;
}

static const struct usage_option *find(const struct usage_option *options, int letter)
{
	while (options->name && options->letter != letter)
		options++;
	return options->name ? options : NULL;
}

const char *usage__accepted(const struct usage_option *options, int letter)
{
	return find(options, letter)->value;
}

enum options_verdict usage__refuse_option(const struct usage_option *options, const char *command,
					  int letter, const char *word)
{
	const struct usage_option *accepted = find(options, optopt);
	char typed[] = {'-', (char)optopt, '\0'};

	if (letter == ':' && accepted)
		log_error("option '%s' needs a value (%s)", accepted->name, accepted->value);
	else if (accepted)
		log_error("option '%s' takes no value, but got '%s'", accepted->name,
			  word + strcspn(word, "=") + (strchr(word, '=') != NULL));
	else
		return unknown_option(options, command, optopt ? typed : word);
	return OPTIONS_WRONG;
}

int usage__parse_number(const char *text, uint32_t max, uint32_t *number)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		value = value > max ? value : value * 10 + (uint64_t)(*text - '0');
	}
	if (!value || value > max)
		return -ERANGE;
	*number = (uint32_t)value;
	return 0;
}

enum options_verdict usage__refuse_value(const struct usage_option *options, int letter,
					 const char *value, int error)
{
	const struct usage_option *accepted = find(options, letter);

	log_error("%s '%s' of option '%s' (accepted: %s)",
		  error == -ERANGE ? "out of range: value" : "cannot understand value", value,
		  accepted->name, accepted->value);
	return OPTIONS_WRONG;
}
