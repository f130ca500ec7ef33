/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/code_point.h"
#include "base/terminal.h"

#define MESSAGE_SIZE 6144 /* a path of PATH_MAX bytes and a sentence */

static enum log_level shown = LOG_INFO;
static void (*before_message)(void);
static void (*diverted)(void *context, enum log_level level, const char *line);
static void *diverted_context;
static bool never_waits;
static uint64_t untaken;

void log__set_level(enum log_level level)
{
	shown = level;
}

void log__call_before(void (*callback)(void))
{
	before_message = callback;
}

void log__divert(void (*sink)(void *context, enum log_level level, const char *line), void *context)
{
	diverted = sink;
	diverted_context = context;
}

enum log_level log__level(void)
{
	return shown;
}

char *log__printable(const char *text, char *to, size_t size)
{
	static const char cut[] = "...";
	size_t used = 0, fits = 0;

	if (!size)
		return to;
	for (text = text ? text : ""; *text;) {
		uint32_t code_point;
		size_t length = terminal__decode(text, &code_point);
		bool escape = !length || code_point__misleads(code_point);
		size_t bytes = length ? length : 1;
		size_t need = escape ? 4 * bytes : bytes;

		if (need >= size - used) {
			snprintf(to + fits, size - fits, "%s", cut);
			return to;
		}
		for (size_t i = 0; escape && i < bytes; i++)
			snprintf(to + used + 4 * i, 5, "\\x%02x", (unsigned char)text[i]);
		if (!escape)
			memcpy(to + used, text, bytes);
		used += need;
		text += bytes;
		/* The last position that leaves room for the dots. */
		if (size - used >= sizeof(cut))
			fits = used;
	}
	to[used] = '\0';
	return to;
}

/* Whether standard error goes to systemd's journal, which sets JOURNAL_STREAM to that file. */
static bool goes_to_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat status;

	if (!stream || fstat(STDERR_FILENO, &status))
		return false;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
	return !strcmp(stream, own);
}

/* The journal takes a line's priority from its prefix: sd-daemon(3). */
static const char *importance(enum log_level level)
{
	static const char *const marks[] = {
		[LOG_ERROR] = "<3>", [LOG_WARN] = "<4>", [LOG_INFO] = "<6>", [LOG_DEBUG] = "<7>"};

	return goes_to_journal() ? marks[level] : "";
}

__attribute__((format(printf, 3, 0))) static void
write_message(enum log_level level, const char *kind, const char *format, va_list args)
{
	char raw[MESSAGE_SIZE], line[MESSAGE_SIZE];
	int saved_errno = errno;

	if (level > shown)
		return;
	if (vsnprintf(raw, sizeof(raw), format, args) < 0)
		snprintf(raw, sizeof(raw), "%s", format);
	log__printable(raw, line, sizeof(line));
	if (before_message)
		before_message();
	if (diverted)
		diverted(diverted_context, level, line);
	else if (!never_waits || terminal__takes_more(STDERR_FILENO))
		fprintf(stderr, "%sluaspy: %s%s\n", importance(level), kind, line);
	else
		untaken++;
	errno = saved_errno;
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_message(LOG_ERROR, "", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_message(LOG_WARN, "warning: ", format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_message(LOG_INFO, "", format, args);
	va_end(args);
}

void log_debug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_message(LOG_DEBUG, "debug: ", format, args);
	va_end(args);
}

void log__wait(bool waits)
{
	uint64_t count = waits ? untaken : 0;

	never_waits = !waits;
	untaken -= count;
	if (count)
		log_warn("%" PRIu64 " messages were lost: nobody read the earlier ones", count);
}
