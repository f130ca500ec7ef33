/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/output_choice.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "system/resource_limits.h"

int output_choice__add(struct output_choice *choice, const char *path)
{
	if (!*path)
		return -EINVAL;
	if (choice->count == OUTPUT_CHOICE_MAX)
		return -E2BIG;
	choice->files[choice->count++].path = path;
	return 0;
}

int output_choice__set_format(struct output_choice *choice, const char *name)
{
	choice->format = format__by_name(name);
	return choice->format ? 0 : -EINVAL;
}

/* Where '--format' says what the ending does not, it decides: it sets *is_used. */
static bool decide_one(const struct output_choice *choice, const char *path,
		       const struct format **format, bool *is_used)
{
	char list[FORMAT_LIST_SIZE];
	int error = format__of_path(path, format);
	const struct format *of_name = *format;

	if (error && !choice->format) {
		log_error("cannot write '%s': no format has the ending of that name "
			  "(accepted: %s; or name one with '--format')",
			  path, format__list(list, sizeof(list)));
		return false;
	}
	if (choice->format && format__has_syntax_of(choice->format, path))
		*format = choice->format;
	if (!*format)
		*format = output_choice__default(choice);
	*is_used |= choice->format && *format == choice->format && of_name != choice->format;
	return true;
}

/* A file must not be called what it is not, unless '--format' is for another one. */
static bool refuse_unused(const struct output_choice *choice)
{
	for (size_t i = 0; choice->format && i < choice->count; i++) {
		if (choice->files[i].format == choice->format)
			continue;
		log_error("cannot write '%s': its name is that of %s, not of '--format %s'",
			  choice->files[i].path, choice->files[i].format->name,
			  choice->format->name);
		return true;
	}
	return false;
}

bool output_choice__decide(struct output_choice *choice)
{
	bool is_used = false;

	for (size_t i = 0; i < choice->count; i++) {
		const char *path = choice->files[i].path;

		for (size_t j = 0; j < i; j++) {
			if (strcmp(choice->files[j].path, path) != 0)
				continue;
			log_error("'--output %s' is given twice: a file has one format", path);
			return false;
		}
		if (!decide_one(choice, path, &choice->files[i].format, &is_used))
			return false;
	}
	return is_used || !refuse_unused(choice);
}

void output_choice__name(struct output_choice *choice, const char *path)
{
	choice->count = 1;
	choice->files[0].path = path;
	choice->files[0].format = output_choice__default(choice);
}

const struct format *output_choice__default(const struct output_choice *choice)
{
	return choice->format ? choice->format : format__at(0);
}

const struct format *output_choice__ordered(const struct output_choice *choice)
{
	const struct format *format = output_choice__default(choice);

	if (!choice->count)
		return format->needs == FORMAT_NEEDS_ORDER ? format : NULL;
	for (size_t i = 0; i < choice->count; i++)
		if (choice->files[i].format->needs == FORMAT_NEEDS_ORDER)
			return choice->files[i].format;
	return NULL;
}

/* The format that other profilers call so, or whose file names end so. NULL: none. */
static const struct format *meant_by(const char *name)
{
	char ending[32];
	const struct format *format = NULL;

	if (!strcmp(name, "raw"))
		return format__by_name("folded");
	snprintf(ending, sizeof(ending), "x.%s", name);
	return format__of_path(ending, &format) ? NULL : format;
}

void output_choice__refuse_format(const char *name)
{
	char list[FORMAT_LIST_SIZE];
	const struct format *meant = meant_by(name);

	if (meant)
		log_error("unknown format '%s' (did you mean '%s'?)", name, meant->name);
	else if (*name >= '0' && *name <= '9')
		log_error("unknown format '%s' (did you mean '--frequency=%s'?)", name, name);
	else
		log_error("unknown format '%s' (accepted: %s)", name,
			  format__list(list, sizeof(list)));
}

void output_choice__refuse_more(const char *path)
{
	log_error("too many outputs: '%s' is one more than %d", path, OUTPUT_CHOICE_MAX);
}

/* Whether all that was printed has arrived. */
static bool flush(void)
{
	errno = 0;
	if (!ferror(stdout) && !fflush(stdout))
		return true;
	log_error("cannot write to standard output: %s", resource_limits__reason(-errno));
	return false;
}

static void print_formats(void)
{
	const struct format *format;

	printf("\nFormats, by the endings of their names:\n");
	for (size_t i = 0; (format = format__at(i)); i++) {
		printf("  %-14s  %s%s\n                 ", format->name, format->title,
		       format->needs == FORMAT_NEEDS_ORDER ? "; needs --timeline" : "");
		for (const char *const *ending = format->endings; *ending; ending++)
			printf(" %s", *ending);
		printf("\n");
	}
}

bool output_choice__print_help(const char *before, const char *after)
{
	fputs(before, stdout);
	print_formats();
	fputs(after, stdout);
	return flush();
}

bool output_choice__print_names(void)
{
	const struct format *format;

	for (size_t i = 0; (format = format__at(i)); i++)
		printf("%s\n", format->name);
	return flush();
}
