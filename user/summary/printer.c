/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/printer.h"

#include <ctype.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/units.h"

#define WIDTH_DEFAULT 80
#define WIDTH_LEAST   40 /* these two of COLUMNS */
#define WIDTH_MOST    500
#define PREFIX_SIZE   128

/* What COLUMNS says; any other value than such a width counts for nothing. */
static unsigned columns_asked_for(void)
{
	const char *text = getenv("COLUMNS");
	size_t digits = text ? strspn(text, "0123456789") : 0;
	unsigned long columns = digits && digits < 5 && !text[digits] ? strtoul(text, NULL, 10) : 0;

	return columns >= WIDTH_LEAST && columns <= WIDTH_MOST ? (unsigned)columns : WIDTH_DEFAULT;
}

struct printer printer__on(FILE *stream)
{
	unsigned columns = terminal__columns(fileno(stream));

	return (struct printer){
		.stream = stream,
		.width = columns ? columns : columns_asked_for(),
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
}

/* Every line goes through here, so none is longer than the terminal. */
void printer__line(const struct printer *printer, const char *line)
{
	size_t bytes = terminal__fit(line, printer->width, NULL);

	while (bytes && line[bytes - 1] == ' ')
		bytes--;
	fprintf(printer->stream, "%.*s\n", (int)bytes, line);
}

/* Select Graphic Rendition, ECMA-48: bold, bold red, yellow, faint. */
static const char *const styles[] = {
	[PRINTER_PLAIN] = NULL,      [PRINTER_TITLE] = "\033[1m", [PRINTER_HOT] = "\033[1;31m",
	[PRINTER_WARM] = "\033[33m", [PRINTER_FAINT] = "\033[2m",
};

void printer__styled(const struct printer *printer, enum printer_style style, const char *line)
{
	size_t bytes = terminal__fit(line, printer->width, NULL);

	if (!printer->has_color || !styles[style]) {
		printer__line(printer, line);
		return;
	}
	while (bytes && line[bytes - 1] == ' ')
		bytes--;
	fprintf(printer->stream, "%s%.*s\033[0m\n", styles[style], (int)bytes, line);
}

enum printer_style printer__heat(uint64_t part, uint64_t whole)
{
	if (part >= whole / 10)
		return part ? PRINTER_HOT : PRINTER_PLAIN;
	if (part >= whole / 50)
		return PRINTER_WARM;
	return part < whole / 200 ? PRINTER_FAINT : PRINTER_PLAIN;
}

#define NS_PER_US 1000
#define NS_PER_S  UINT64_C(1000000000)

char *printer__format_time(const struct printer *printer, uint64_t us, char *to, size_t size)
{
	unsigned __int128 ns = (unsigned __int128)us * NS_PER_US;

	if (printer->average_s && printer->wall_ns)
		ns = ns * printer->average_s * NS_PER_S / printer->wall_ns;
	return units__format_time(ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns, to, size);
}

/* Whether a blank separates a number from its unit, as in "1,000 Hz". */
static bool is_in_amount(const char *text, size_t blank)
{
	return blank && isdigit((unsigned char)text[blank - 1]) &&
	       isalpha((unsigned char)text[blank + 1]);
}

/*
 * How many bytes of `text` go on a line: up to the last blank that fits and parts no number from
 * its unit, else what fits.
 */
static size_t break_line(const char *text, unsigned columns)
{
	size_t fits = terminal__fit(text, columns, NULL), end = fits;

	if (!text[fits])
		return fits;
	while (end && (text[end] != ' ' || is_in_amount(text, end)))
		end--;
	return end ? end : fits;
}

void printer__wrapped(const struct printer *printer, const char *prefix, const char *text)
{
	char line[PREFIX_SIZE + PRINTER_TEXT_SIZE];
	unsigned indent = terminal__width(prefix);
	/* Wide enough for any one character, so that the loop ends. */
	unsigned room = printer->width > indent + 8 ? printer->width - indent : 8;

	do {
		size_t bytes = break_line(text, room);

		snprintf(line, sizeof(line), "%s%*s%.*s", prefix,
			 (int)(indent - terminal__width(prefix)), "", (int)bytes, text);
		printer__line(printer, line);
		text += bytes + strspn(text + bytes, " ");
		prefix = "";
	} while (*text);
}

void printer__fact(const struct printer *printer, const char *label, const char *value)
{
	char prefix[PREFIX_SIZE], text[PRINTER_TEXT_SIZE];

	snprintf(prefix, sizeof(prefix), "  %-11s  ", label);
	printer__wrapped(printer, prefix, log__printable(value, text, sizeof(text)));
}

void printer__amount(const struct printer *printer, const char *label, int width,
		     const char *amount, const char *share, const char *why)
{
	char prefix[PREFIX_SIZE];

	snprintf(prefix, sizeof(prefix), "  %-10s  %*s  %6s  ", label, width, amount, share);
	printer__wrapped(printer, prefix, why);
}

void printer__rule(const struct printer *printer, int width)
{
	char prefix[PREFIX_SIZE], rule[PREFIX_SIZE];

	memset(rule, '-', sizeof(rule));
	snprintf(prefix, sizeof(prefix), "  %.*s", 10 + 2 + width + 2 + 6, rule);
	printer__line(printer, prefix);
}
