/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "printer.h"

#include <langinfo.h>
#include <string.h>

#include "log.h"
#include "terminal.h"

#define WIDTH_DEFAULT 80
#define PREFIX_SIZE   128

struct printer printer__on(FILE *stream)
{
	unsigned columns = terminal__columns(fileno(stream));

	return (struct printer){
		.stream = stream,
		.width = columns ? columns : WIDTH_DEFAULT,
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
}

/* Every line goes through here, which is why none is longer than the terminal. */
void printer__line(const struct printer *printer, const char *line)
{
	size_t bytes = terminal__fit(line, printer->width, NULL);

	while (bytes && line[bytes - 1] == ' ')
		bytes--;
	fprintf(printer->stream, "%.*s\n", (int)bytes, line);
}

/* How many bytes of `text` go on a line: up to the last blank that fits, else what fits. */
static size_t break_line(const char *text, unsigned columns)
{
	size_t fits = terminal__fit(text, columns, NULL), end = fits;

	if (!text[fits])
		return fits;
	while (end && text[end] != ' ')
		end--;
	return end ? end : fits;
}

void printer__wrapped(const struct printer *printer, const char *prefix, const char *text)
{
	char line[PREFIX_SIZE + PRINTER_TEXT_SIZE];
	unsigned indent = terminal__width(prefix);
	/* Never too narrow for one character, which is what makes the loop end. */
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
