/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NS_PER_US      UINT64_C(1000)
#define NS_PER_MS      UINT64_C(1000000)
#define NS_PER_S       UINT64_C(1000000000)
#define NS_PER_MIN     (60 * NS_PER_S)
#define NS_PER_HOUR    (60 * NS_PER_MIN)
#define SIZE_MAX_BYTES (UINT64_C(1) << 50)
#define DURATION_MAX   (365 * 24 * NS_PER_HOUR)
#define MILLIHZ_PER_HZ UINT64_C(1000)
#define FREQUENCY_MIN  (1 * MILLIHZ_PER_HZ)
#define FREQUENCY_MAX  (20000 * MILLIHZ_PER_HZ)

#define PPM_PER_PERCENT UINT64_C(10000)
#define PERCENT_MIN     (PPM_PER_PERCENT / 100)
#define PERCENT_MAX     (100 * PPM_PER_PERCENT)

struct unit {
	const char *name;
	uint64_t size;
};

static const struct unit durations[] = {
	{"", NS_PER_S},    {"ms", NS_PER_MS},  {"s", NS_PER_S},
	{"m", NS_PER_MIN}, {"h", NS_PER_HOUR}, {NULL, 0},
};

static const struct unit frequencies[] = {
	{"", MILLIHZ_PER_HZ},
	{"hz", MILLIHZ_PER_HZ},
	{"khz", 1000 * MILLIHZ_PER_HZ},
	{NULL, 0},
};

static const struct unit percents[] = {
	{"", PPM_PER_PERCENT},
	{"%", PPM_PER_PERCENT},
	{NULL, 0},
};

static const struct unit sizes[] = {
	{"", 1},
	{"k", UINT64_C(1) << 10},
	{"m", UINT64_C(1) << 20},
	{"g", UINT64_C(1) << 30},
	{"t", UINT64_C(1) << 40},
	{NULL, 0},
};

/* isdigit() depends on the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parses digits, with at most one dot between them, and a unit into the smallest unit. strtod()
 * would take "1e3", "inf", "0x1p3" and the locale's decimal comma.
 */
static int parse_quantity(const char *text, const struct unit *unit, uint64_t max, uint64_t *value)
{
	const char *fraction = NULL, *end;
	uint64_t whole = 0, step, rest = 0;

	if (!is_digit(*text))
		return -EINVAL;
	/* max + 1 stands for anything larger, so no number of digits overflows. */
	for (end = text; is_digit(*end); end++)
		whole = whole > max ? max + 1 : whole * 10 + (uint64_t)(*end - '0');
	if (*end == '.' && is_digit(end[1])) {
		fraction = ++end;
		end += strspn(end, "0123456789");
	}

	while (unit->name && strcasecmp(end, unit->name))
		unit++;
	if (!unit->name)
		return -EINVAL;

	step = unit->size;
	for (; fraction && is_digit(*fraction); fraction++) {
		step /= 10;
		rest += step * (uint64_t)(*fraction - '0');
	}
	if (whole > max / unit->size || whole * unit->size + rest > max)
		return -ERANGE;
	*value = whole * unit->size + rest;
	return 0;
}

int units__parse_moment(const char *text, uint64_t *ns)
{
	return parse_quantity(text, durations, DURATION_MAX, ns);
}

int units__parse_duration(const char *text, uint64_t *ns)
{
	uint64_t value;
	int error = units__parse_moment(text, &value);

	if (error)
		return error;
	if (!value)
		return -ERANGE;
	*ns = value;
	return 0;
}

int units__parse_size(const char *text, uint64_t *bytes)
{
	uint64_t value;
	int error = parse_quantity(text, sizes, SIZE_MAX_BYTES, &value);

	if (error)
		return error;
	if (!value)
		return -ERANGE;
	*bytes = value;
	return 0;
}

int units__parse_frequency(const char *text, uint64_t *period_ns)
{
	uint64_t value;
	int error = parse_quantity(text, frequencies, FREQUENCY_MAX, &value);

	if (error)
		return error;
	if (value < FREQUENCY_MIN)
		return -ERANGE;
	*period_ns = (NS_PER_S * MILLIHZ_PER_HZ + value / 2) / value;
	return 0;
}

int units__parse_percent(const char *text, uint32_t *ppm)
{
	uint64_t value;
	int error = parse_quantity(text, percents, PERCENT_MAX, &value);

	if (error)
		return error;
	if (value < PERCENT_MIN)
		return -ERANGE;
	*ppm = (uint32_t)value;
	return 0;
}

int units__parse_limit(const char *text, uint32_t *ppm)
{
	*ppm = 0;
	return strcmp(text, "none") && strcmp(text, "off") ? units__parse_percent(text, ppm) : 0;
}

char *units__format_percent(uint64_t ppm, char *to, size_t size)
{
	int length = snprintf(to, size, "%" PRIu64 ".%04u", ppm / PPM_PER_PERCENT,
			      (unsigned)(ppm % PPM_PER_PERCENT));

	while (length > 0 && (size_t)length < size && to[length - 1] == '0')
		length--;
	if (length > 0 && (size_t)length < size && to[length - 1] == '.')
		length--;
	if (length > 0 && (size_t)length + 1 < size)
		snprintf(to + length, size - (size_t)length, "%%");
	return to;
}

char *units__format_frequency(uint64_t period_ns, char *to, size_t size)
{
	char hertz[UNITS_SIZE];
	uint64_t tenths = period_ns ? (10 * NS_PER_S + period_ns / 2) / period_ns : 0;

	units__format_count(tenths / 10, hertz, sizeof(hertz));
	if (tenths % 10)
		snprintf(to, size, "%s.%u Hz", hertz, (unsigned)(tenths % 10));
	else
		snprintf(to, size, "%s Hz", hertz);
	return to;
}

char *units__format_clock(uint64_t ns, char *to, size_t size)
{
	snprintf(to, size, "%" PRIu64 ":%02u:%02u.%03u", ns / NS_PER_HOUR,
		 (unsigned)(ns / NS_PER_MIN % 60), (unsigned)(ns / NS_PER_S % 60),
		 (unsigned)(ns / NS_PER_MS % 1000));
	return to;
}

/* For less than a minute: as many decimals as make three digits. False if `unit` is too small. */
static bool format_three_digits(uint64_t ns, const struct unit *unit, char *to, size_t size)
{
	static const uint64_t powers[] = {1, 10, 100};

	for (int decimals = unit->size > 1 ? 2 : 0; decimals >= 0; decimals--) {
		uint64_t power = powers[decimals];
		uint64_t digits = (ns * power + unit->size / 2) / unit->size;
		unsigned whole, rest;

		if (digits >= 1000)
			continue;
		whole = (unsigned)(digits / power);
		rest = (unsigned)(digits % power);
		if (decimals == 2)
			snprintf(to, size, "%u.%02u %s", whole, rest, unit->name);
		else if (decimals == 1)
			snprintf(to, size, "%u.%u %s", whole, rest, unit->name);
		else
			snprintf(to, size, "%u %s", whole, unit->name);
		return true;
	}
	return false;
}

char *units__format_time(uint64_t ns, char *to, size_t size)
{
	static const struct unit steps[] = {
		{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}, {NULL, 0}};
	/* Round first, so that neither "60.0 s" nor "4 min 60 s" can appear. */
	uint64_t seconds = ns / NS_PER_S + (ns % NS_PER_S >= NS_PER_S / 2);
	uint64_t minutes = seconds / 60 + (seconds % 60 >= 30);

	if (!ns) {
		snprintf(to, size, "0 s");
		return to;
	}
	if (ns < NS_PER_MIN - 50 * NS_PER_MS) {
		for (const struct unit *unit = steps; unit->name; unit++)
			if (format_three_digits(ns, unit, to, size))
				break;
	} else if (seconds < 3600) {
		snprintf(to, size, "%u min %02u s", (unsigned)(seconds / 60),
			 (unsigned)(seconds % 60));
	} else {
		snprintf(to, size, "%" PRIu64 " h %02u min", minutes / 60,
			 (unsigned)(minutes % 60));
	}
	return to;
}

char *units__format_size(uint64_t bytes, char *to, size_t size)
{
	static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes / 1024;
	size_t at = 0;

	if (bytes < 1024) {
		snprintf(to, size, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return to;
	}
	/* A value that would round to 1024.0 belongs to the next unit. */
	for (; value >= 1023.95 && at < sizeof(names) / sizeof(*names) - 1; at++)
		value /= 1024;
	snprintf(to, size, "%.1f %s", value, names[at]);
	return to;
}

char *units__format_count(uint64_t count, char *to, size_t size)
{
	char digits[UNITS_SIZE], grouped[UNITS_SIZE];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	size_t used = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			grouped[used++] = ',';
		grouped[used++] = digits[i];
	}
	grouped[used] = '\0';
	snprintf(to, size, "%s", grouped);
	return to;
}

/* A percent has `per_percent` steps, 1 or 10. Only nothing is 0 of them, only everything is all. */
static char *format_share(uint64_t part, uint64_t whole, unsigned per_percent, char *to,
			  size_t size)
{
	uint64_t steps = UINT64_C(100) * per_percent, count;
	const char *decimal = per_percent == 10 ? ".1" : "", *nines = per_percent == 10 ? ".9" : "";

	/* Make room for the factor below; the low bits of such numbers do not affect the share. */
	while (part > UINT64_MAX / 2048 || whole > UINT64_MAX / 2048) {
		part /= 2;
		whole /= 2;
	}
	if (!whole) {
		snprintf(to, size, "-");
		return to;
	}
	count = (part * steps + whole / 2) / whole;
	if (part && !count)
		snprintf(to, size, "<%s%s%%", per_percent == 10 ? "0" : "1", decimal);
	else if (part < whole && count == steps)
		snprintf(to, size, ">99%s%%", nines);
	else if (per_percent == 10)
		snprintf(to, size, "%" PRIu64 ".%u%%", count / 10, (unsigned)(count % 10));
	else
		snprintf(to, size, "%" PRIu64 "%%", count);
	return to;
}

char *units__format_share(uint64_t part, uint64_t whole, char *to, size_t size)
{
	return format_share(part, whole, 10, to, size);
}

char *units__format_short_share(uint64_t part, uint64_t whole, char *to, size_t size)
{
	return format_share(part, whole, 1, to, size);
}
