/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantities as people type and read them. Nothing here depends on the locale, of which luaspy sets
 * only LC_CTYPE, and only units__format_size() computes in floating point.
 *
 * Formatters return the buffer that the caller passes, always NUL-terminated (`size` is at least
 * 1); UNITS_SIZE bytes are enough for all of them.
 */
#ifndef LS_UNITS_H
#define LS_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_SIZE 32

#define PPM 1000000 /* a whole, in parts per million */

/*
 * Parses "500ms", "30", "30s", "1.5s", "5m", "1h" into nanoseconds: more than 0, at most 365 days.
 * Case does not matter. Fractions of a nanosecond are cut off. 0, -EINVAL (not a duration) or
 * -ERANGE; *ns is set only on success.
 */
int units__parse_duration(const char *text, uint64_t *ns);

/* The same for a time since a start: 0 is one, too. */
int units__parse_moment(const char *text, uint64_t *ns);

/*
 * Parses "1000", "250hz", "1khz", "2.5kHz" (1 to 20000 Hz) into the period, rounded to nanoseconds.
 * 0, -EINVAL (not a frequency) or -ERANGE; *period_ns is set only on success.
 */
int units__parse_frequency(const char *text, uint64_t *period_ns);

/*
 * Parses "500000", "100k", "10M", "1.5G", "1T" into bytes, with factors of 1024: more than 0, at
 * most 1024 T. 0, -EINVAL (not a size) or -ERANGE; *bytes is set only on success.
 */
int units__parse_size(const char *text, uint64_t *bytes);

/* Hours, minutes, seconds, milliseconds (cut off, not rounded): "0:00:30.004" */
char *units__format_clock(uint64_t ns, char *to, size_t size);

/* Three significant digits: "812 us", "1.23 s"; from one minute on "4 min 05 s", "2 h 07 min". */
char *units__format_time(uint64_t ns, char *to, size_t size);

/* "812 bytes", "1.2 KiB", "34.5 MiB" */
char *units__format_size(uint64_t bytes, char *to, size_t size);

/*
 * Parses "0.5%", "1", "12.25%" (0.01 to 100%) into millionths. 0, -EINVAL (not a percentage) or
 * -ERANGE; *ppm is set only on success.
 */
int units__parse_percent(const char *text, uint32_t *ppm);

/* The same, but also takes "none" and "off" as 0, no limit. *ppm is 0 on failure. */
int units__parse_limit(const char *text, uint32_t *ppm);

/* Formats millionths, with no more decimals than they need: "0.5%" */
char *units__format_percent(uint64_t ppm, char *to, size_t size);

/* A period as a frequency: "1,000 Hz", "62.5 Hz" */
char *units__format_frequency(uint64_t period_ns, char *to, size_t size);

/* "1,234,567" */
char *units__format_count(uint64_t count, char *to, size_t size);

/*
 * "97.1%". Only nothing is "0.0%", and only everything is "100.0%": shares that round to these are
 * "<0.1%" and ">99.9%". More than the whole is possible ("231.0%"); if `whole` is 0, "-".
 */
char *units__format_share(uint64_t part, uint64_t whole, char *to, size_t size);

/* The same without decimals, where there is little room: "97%", "<1%", ">99%". */
char *units__format_short_share(uint64_t part, uint64_t whole, char *to, size_t size);

#endif
