/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/usage.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "output/output_file.h"
#include "system/resource_limits.h"

#define SUGGESTION_SIZE 64

int usage__parse_mode(const char *text, mode_t *mode)
{
	char *end;
	unsigned long value = strtoul(text, &end, 8);

	if (*text < '0' || *text > '7' || *end)
		return -EINVAL;
	*mode = (mode_t)value;
	return value & S_IRUSR && !(value & ~(unsigned long)OUTPUT_FILE_MODE_MOST) ? 0 : -ERANGE;
}

void usage__begin(void)
{
	/* 0, not 1: getopt then forgets the rest of an earlier command line as well. */
	optind = 0;
	opterr = 0;
}

static int argument_kind(const struct usage_option *option)
{
	if (!option->value)
		return no_argument;
	return option->letter & USAGE_VALUE_OPTIONAL ? optional_argument : required_argument;
}

int usage__next(const struct usage_option *options, int argc, char **argv)
{
	struct option longs[USAGE_OPTIONS_MAX + 1] = {{0}};
	char letters[2 * USAGE_OPTIONS_MAX + 3] = "+:", *end = letters + 2;

	for (size_t i = 0; options[i].name && i < USAGE_OPTIONS_MAX; i++) {
		longs[i] = (struct option){options[i].name + 2, argument_kind(&options[i]), NULL,
					   options[i].letter};
		if (options[i].letter > UINT8_MAX)
			continue;
		*end++ = (char)options[i].letter;
		if (options[i].value)
			*end++ = ':';
	}
	return getopt_long(argc, argv, letters, longs, NULL);
}

int usage__next_or_pid(const struct usage_option *options, int argc, char **argv)
{
	int letter = usage__next(options, argc, argv);
	const char *word = letter == -1 && optind < argc ? argv[optind] : "";

	if (!*word || word[strspn(word, "0123456789")] || !strcmp(argv[optind - 1], "--"))
		return letter;
	optarg = argv[optind++];
	return USAGE_WORD;
}

int usage__next_or_word(const struct usage_option *options, int argc, char **argv)
{
	bool is_word;
	int letter = -1;

	/* This begins anew at argv[1], and takes nothing yet. */
	if (!optind)
		usage__next(options, 1, argv);
	/* getopt_long() goes back to the first word that it did not take when it meets "--". */
	is_word = optind < argc && !strcmp(argv[optind], "--");
	if (is_word)
		optind++;
	else
		letter = usage__next(options, argc, argv);
	if (letter != -1 || optind >= argc)
		return letter;
	optarg = argv[optind++];
	return USAGE_WORD;
}

enum options_verdict usage__print(const char *text)
{
	if (fputs(text, stdout) != EOF && !fflush(stdout))
		return OPTIONS_DONE;
	log_error("cannot write to standard output: %s", resource_limits__reason(-errno));
	return OPTIONS_FAILED;
}

/* Levenshtein distance; SUGGESTION_SIZE if a word is too long to be a misspelling. */
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
 * How many letters may differ: a third of the word, but at least two. In words of three letters
 * one; in words of four, two only if the first letter is right.
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

/* The word that `typed` most likely means, by prefix or edit distance. NULL: none. */
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

/* Whether that says which process, but not what to do with it. */
static bool is_target(const char *typed)
{
	return !strncmp(typed, "-p", 2) || !strncmp(typed, "--pid", 5) ||
	       (*typed && !typed[strspn(typed, "0123456789,")]);
}

enum options_verdict usage__unknown_command(const char *typed, const char *const *words)
{
	const char *meant = nearest(typed, words);
	const char *kind = *typed == '-' ? "option" : "command";

	if (!strcmp(typed, "ps"))
		log_error("unknown command 'ps' ('luaspy list' shows the processes)");
	else if (is_target(typed))
		log_error("missing command before '%s' (such as record, top or dump)", typed);
	else if (meant)
		log_error("unknown %s '%s' (did you mean '%s'?)", kind, typed, meant);
	else
		log_error("unknown %s '%s' (see 'luaspy --help')", kind, typed);
	return OPTIONS_WRONG;
}

enum options_verdict usage__stray(const char *argument, const char *after)
{
	/* Where a command is meant, its own help has what it takes. */
	bool is_command = *after != '-' && !strchr(after, ' ');

	log_error("unexpected argument '%s' after 'luaspy %s' (see 'luaspy help%s%s')", argument,
		  after, is_command ? " " : "", is_command ? after : "");
	return OPTIONS_WRONG;
}

enum options_verdict usage__second_process(const char *value, const char *command)
{
	log_error("unexpected second process '%s' ('luaspy %s' takes one)", value, command);
	return OPTIONS_WRONG;
}

enum options_verdict usage__stray_word(const char *argument, bool takes_command)
{
	log_error("unexpected argument '%s' (a process is given by its PID or by '--name REGEX'%s)",
		  argument, takes_command ? ", a command as '-- COMMAND'" : "");
	return OPTIONS_WRONG;
}

#define ANSWER_THREADS                                                                             \
	"each thread has a category by default; with several processes, add '--category=thread'"
#define ANSWER_IDLE   "luaspy samples what uses CPU time; 'luaspy dump' shows threads that wait"
#define ANSWER_LOCALS "luaspy reads which functions run, but no variables"
#define ANSWER_EVENT  "luaspy samples CPU time; '--frequency' says how often"

/* What other profilers call such a thing, and what it is here. */
static const struct {
	const char *typed, *answer;
	const char *needs; /* the command, or an option of it; NULL: none */
} reflexes[] = {
	{"-a", "list shows all processes that run an interpreter", "list"},
	{"-p", USAGE_LISTS_ALL, "list"},
	{"--pid", USAGE_LISTS_ALL, "list"},
	{"-t", ANSWER_THREADS, "--category"},
	{"--threads", ANSWER_THREADS, "--category"},
	{"-a", "'--system' takes all processes that run an interpreter", "--system"},
	{"--all", "'--system' takes all processes that run an interpreter", "--system"},
	{"--all-cpus", "'--system' takes all processes that run an interpreter", "--system"},
	{"-g", "call stacks are always taken", NULL},
	{"--call-graph", "call stacks are always taken", NULL},
	{"-n",
	 "top runs until you quit it; 'luaspy record -d 10' ends after 10 s and prints a summary",
	 "top"},
	{"-b", "top needs a terminal; 'luaspy record -d 10' prints a summary after 10 s", "top"},
	{"-d", "top shows a new picture every second", "top"},
	{"-n", "C functions that Lua calls are always shown; machine frames below them are not",
	 NULL},
	{"--native",
	 "C functions that Lua calls are always shown; machine frames below them are not", NULL},
	{"-i", ANSWER_IDLE, NULL},
	{"--idle", ANSWER_IDLE, NULL},
	{"--gil", "Lua has no lock that threads share; only those that use CPU time are sampled",
	 NULL},
	{"--nonblocking", "luaspy never stops the process", NULL},
	{"-l", ANSWER_LOCALS, NULL},
	{"--locals", ANSWER_LOCALS, NULL},
	{"-e", ANSWER_EVENT, NULL},
	{"--event", ANSWER_EVENT, NULL},
	{"-V", "'luaspy --version' tells the version", NULL},
	{"--version", "'luaspy --version' tells the version", NULL},
};

static bool has_option(const struct usage_option *options, const char *name)
{
	while (options->name && strcmp(options->name, name) != 0)
		options++;
	return options->name != NULL;
}

/* NULL: no such word is known. */
static const char *reflex_answer(const struct usage_option *options, const char *command,
				 const char *typed)
{
	for (size_t i = 0; i < sizeof(reflexes) / sizeof(reflexes[0]); i++) {
		const char *needs = reflexes[i].needs;

		if (!strcmp(typed, reflexes[i].typed) &&
		    (!needs || !strcmp(command, needs) || has_option(options, needs)))
			return reflexes[i].answer;
	}
	return NULL;
}

static enum options_verdict unknown_option(const struct usage_option *options, const char *command,
					   const char *typed)
{
	const char *names[USAGE_OPTIONS_MAX + 1];
	char name[SUGGESTION_SIZE];
	const char *meant, *answer;
	size_t i;

	for (i = 0; options[i].name && i < USAGE_OPTIONS_MAX; i++)
		names[i] = options[i].name;
	names[i] = NULL;
	/* "--periode=3": compare only the name, not the value. */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed, "="), typed);
	answer = reflex_answer(options, command, name);
	meant = nearest(name, names);
	if (answer)
		log_error("unknown option '%s' (%s)", typed, answer);
	else if (meant)
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

enum options_verdict usage__refuse_pid(const char *value, int error)
{
	bool is_name = error == -EINVAL &&
		       ((*value >= 'a' && *value <= 'z') || (*value >= 'A' && *value <= 'Z'));

	log_error("%s '%s' of option '--pid' (accepted: " USAGE_PID "%s)",
		  error == -ERANGE ? "out of range: value" : "cannot understand value", value,
		  is_name ? "; '--name' finds a process by its name" : "");
	return OPTIONS_WRONG;
}

enum options_verdict usage__refuse_value(const struct usage_option *options, int letter,
					 const char *value, int error)
{
	const struct usage_option *accepted = find(options, letter);

	if (error == -ENOMEM) {
		log_error("cannot take option '%s': out of memory", accepted->name);
		return OPTIONS_FAILED;
	}
	log_error("%s '%s' of option '%s' (accepted: %s)",
		  error == -ERANGE ? "out of range: value" : "cannot understand value", value,
		  accepted->name, accepted->value);
	return OPTIONS_WRONG;
}
