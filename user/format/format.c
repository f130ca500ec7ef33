/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "format/format.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "system/folder.h"

static const struct format formats[] = {
#define X(format, described, used, needed, ...)                                                    \
	{.name = #format,                                                                          \
	 .title = described,                                                                       \
	 .use = used,                                                                              \
	 .needs = needed,                                                                          \
	 .endings = {__VA_ARGS__},                                                                 \
	 .write = write_##format},
	LS_FORMATS(X)
#undef X
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const struct format *format__at(size_t index)
{
	return index < FORMAT_COUNT ? &formats[index] : NULL;
}

const struct format *format__by_name(const char *name)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

/* The length of the longest of a format's endings that `name` has; 0: none. */
static size_t fitting_length(const struct format *format, const char *name)
{
	size_t length = strlen(name), longest = 0;

	for (const char *const *ending = format->endings; *ending; ending++) {
		size_t size = strlen(*ending);

		if (length >= size && size > longest && !strcasecmp(name + length - size, *ending))
			longest = size;
	}
	return longest;
}

/* The format with the longest ending that `name` has, and that ending's length. NULL: none. */
static const struct format *fitting(const char *name, size_t *length)
{
	const struct format *found = NULL;

	*length = 0;
	for (size_t i = 0; i < FORMAT_COUNT; i++) {
		size_t fits = fitting_length(&formats[i], name);

		if (fits <= *length)
			continue;
		found = &formats[i];
		*length = fits;
	}
	return found;
}

/* The last ending of `name`, of a format or not. NULL: none; a leading dot does not begin one. */
static const char *any_ending(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name && dot[1] ? dot : NULL;
}

static bool is_device(const char *path)
{
	return (!strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) != 0) ||
	       !strncmp(path, "/proc/self/fd/", 14);
}

int format__of_path(const char *path, const struct format **format)
{
	const char *name = folder__name_in(path);
	size_t length;

	*format = is_device(path) ? NULL : fitting(name, &length);
	return *format || is_device(path) || !any_ending(name) ? 0 : -EINVAL;
}

bool format__has_syntax_of(const struct format *format, const char *path)
{
	size_t length = strlen(path);

	for (const char *const *ending = format->endings; *ending; ending++) {
		const char *last = strrchr(*ending, '.');

		if (length >= strlen(last) && !strcasecmp(path + length - strlen(last), last))
			return true;
	}
	return false;
}

size_t format__stem_length(const char *path)
{
	const char *name = folder__name_in(path), *dot = any_ending(name);
	size_t length;

	/* A name that is nothing but an ending, ".json", is a stem. */
	if (fitting(name, &length) && length < strlen(name))
		return strlen(path) - length;
	return dot ? (size_t)(dot - path) : strlen(path);
}

char *format__list(char *to, size_t size)
{
	size_t length = 0;

	*to = '\0';
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		for (const char *const *ending = formats[i].endings; *ending; ending++) {
			bool is_first = ending == formats[i].endings;

			if (length < size)
				length += (size_t)snprintf(
					to + length, size - length, "%s%s%s%s%s",
					i && is_first ? ", " : "", is_first ? formats[i].name : "",
					is_first ? " (" : ", ", *ending, ending[1] ? "" : ")");
		}
	return to;
}
