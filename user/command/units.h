/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantities as people type and read them. Nothing here depends on the locale, and nothing is
 * computed in floating point.
 *
 * Whoever formats passes a buffer and gets it back, always ended by NUL (`size` is at least 1);
 * UNITS_SIZE bytes are enough for all of them.
 */
#ifndef LS_UNITS_H
#define LS_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_SIZE 32

/*
 * "500ms", "30", "30s", "1.5s", "5m", "1h" into nanoseconds: more than 0, at most 365 days. Capital
 * letters are as good. What lies below a nanosecond is cut off. 0, -EINVAL (not a duration) or
 * -ERANGE; *ns is set only by success.
 */
int units__parse_duration(const char *text, uint64_t *ns);

/*
 * "1000", "250hz", "1khz", "2.5kHz": 1 to 20000 Hz, into the period, rounded to nanoseconds. 0,
 * -EINVAL (not a frequency) or -ERANGE; *period_ns is set only by success.
 */
int units__parse_frequency(const char *text, uint64_t *period_ns);

/*
 * "500000", "100k", "10M", "1.5G", "1T" into bytes, in steps of 1024: more than 0, at most 1024 T.
 * 0, -EINVAL (not a size) or -ERANGE; *bytes is set only by success.
 */
int units__parse_size(const char *text, uint64_t *bytes);

/* Hours, minutes, seconds, milliseconds (cut off, not rounded): "0:00:30.004" */
char *units__format_clock(uint64_t ns, char *to, size_t size);

/* Three digits that matter: "812 us", "1.23 s"; from a minute on "4 min 05 s", "2 h 07 min". */
char *units__format_time(uint64_t ns, char *to, size_t size);

/* "812 bytes", "1.2 KiB", "34.5 MiB" */
char *units__format_size(uint64_t bytes, char *to, size_t size);

/* "0.5%", "1", "12.25%" into millionths: 0.01 to 100%. 0, -EINVAL or -ERANGE, and so on. */
int units__parse_percent(const char *text, uint32_t *ppm);

/* The same, or "none" or "off", which are 0: no limit. */
int units__parse_limit(const char *text, uint32_t *ppm);

/* Millionths, and no more decimals than they need: "0.5%" */
char *units__format_percent(uint64_t ppm, char *to, size_t size);

/* A period as frequency: "1,000 Hz", "62.5 Hz" */
char *units__format_frequency(uint64_t period_ns, char *to, size_t size);

/* "1,234,567" */
char *units__format_count(uint64_t count, char *to, size_t size);

/*
 * "97.1%". "0.0%" and "100.0%" are said only of nothing and of everything: what rounds to them is
 * "<0.1%" and ">99.9%". More than the whole is possible ("231.0%"); of no whole it is "-".
 */
char *units__format_share(uint64_t part, uint64_t whole, char *to, size_t size);

#endif
