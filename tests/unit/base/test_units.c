/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#include "base/units.h"

#define MS  UINT64_C(1000000)
#define S   (1000 * MS)
#define MIN (60 * S)
#define H   (60 * MIN)

static void assert_duration(const char *text, int result, uint64_t expected)
{
	uint64_t ns = 77;

	assert_int_equal(units__parse_duration(text, &ns), result);
	assert_int_equal(ns, result ? 77 : expected);
}

static void reads_durations_with_and_without_units(void **state)
{
	(void)state;
	assert_duration("500ms", 0, 500 * MS);
	assert_duration("30", 0, 30 * S);
	assert_duration("30s", 0, 30 * S);
	assert_duration("1.5s", 0, 1500 * MS);
	assert_duration("0.1", 0, 100 * MS);
	assert_duration("5m", 0, 5 * MIN);
	assert_duration("1h", 0, H);
	assert_duration("1.25h", 0, H + 15 * MIN);
	assert_duration("0.000000001s", 0, 1);
	assert_duration("365.0h", 0, 365 * H);
	assert_duration("2H", 0, 2 * H);
	assert_duration("0030", 0, 30 * S);
}

static void refuses_what_is_no_duration(void **state)
{
	static const char *const wrong[] = {"",      " ",     "s",    "ms",    ".",       "5.",
					    ".5",    "5.s",   "1,5",  "-1",    "+1",      " 30",
					    "30 ",   "30 s",  "1e3",  "0x10",  "inf",     "nan",
					    "30sec", "1m30s", "30\n", "1.2.3", "\xd9\xa3"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_duration(wrong[i], -EINVAL, 0);
}

static void refuses_durations_of_nothing_and_of_more_than_a_year(void **state)
{
	(void)state;
	assert_duration("0", -ERANGE, 0);
	assert_duration("0.0ms", -ERANGE, 0);
	assert_duration("0.0000000001s", -ERANGE, 0);
	assert_duration("8760h", 0, 8760 * H);
	assert_duration("8760.01h", -ERANGE, 0);
	assert_duration("8761h", -ERANGE, 0);
	assert_duration("18446744073709551616", -ERANGE, 0);
	assert_duration("99999999999999999999999999999999999999999ms", -ERANGE, 0);
}

static void assert_size(const char *text, int result, uint64_t expected)
{
	uint64_t bytes = 77;

	assert_int_equal(units__parse_size(text, &bytes), result);
	assert_int_equal(bytes, result ? 77 : expected);
}

static void reads_sizes(void **state)
{
	(void)state;
	assert_size("1", 0, 1);
	assert_size("500k", 0, 512000);
	assert_size("10M", 0, 10485760);
	assert_size("2G", 0, 2147483648);
	assert_size("1024T", 0, UINT64_C(1) << 50);
	assert_size("0", -ERANGE, 0);
	assert_size("1025T", -ERANGE, 0);
	assert_size("10 M", -EINVAL, 0);
	assert_size("-1M", -EINVAL, 0);
	assert_size("M", -EINVAL, 0);
	assert_size("", -EINVAL, 0);
}

static void assert_frequency(const char *text, int result, uint64_t expected)
{
	uint64_t period_ns = 77;

	assert_int_equal(units__parse_frequency(text, &period_ns), result);
	assert_int_equal(period_ns, result ? 77 : expected);
}

static void reads_frequencies_as_periods(void **state)
{
	(void)state;
	assert_frequency("1000", 0, MS);
	assert_frequency("1khz", 0, MS);
	assert_frequency("10kHz", 0, MS / 10);
	assert_frequency("2.5KHZ", 0, 400000);
	assert_frequency("250hz", 0, 4 * MS);
	assert_frequency("3", 0, 333333333);
	assert_frequency("6000", 0, 166667);
	assert_frequency("7000", 0, 142857);
	assert_frequency("1", 0, S);
	assert_frequency("20000", 0, 50000);
	assert_frequency("20khz", 0, 50000);
}

static void refuses_frequencies_out_of_range_and_other_text(void **state)
{
	(void)state;
	assert_frequency("0", -ERANGE, 0);
	assert_frequency("0.5hz", -ERANGE, 0);
	assert_frequency("20001", -ERANGE, 0);
	assert_frequency("21khz", -ERANGE, 0);
	assert_frequency("18446744073709551617", -ERANGE, 0);
	assert_frequency("", -EINVAL, 0);
	assert_frequency("-1", -EINVAL, 0);
	assert_frequency("1mhz", -EINVAL, 0);
	assert_frequency("fast", -EINVAL, 0);
}

static void reads_percents_as_millionths(void **state)
{
	static const char *const wrong[] = {"", "%", "1 %", "-1", "1e1", "1%%", "none", "1.%"};
	uint32_t ppm = 7;

	(void)state;
	assert_int_equal(units__parse_percent("1%", &ppm), 0);
	assert_int_equal(ppm, 10000);
	assert_int_equal(units__parse_percent("0.25", &ppm), 0);
	assert_int_equal(ppm, 2500);
	assert_int_equal(units__parse_percent("0.01%", &ppm), 0);
	assert_int_equal(ppm, 100);
	assert_int_equal(units__parse_percent("100", &ppm), 0);
	assert_int_equal(ppm, 1000000);
	assert_int_equal(units__parse_percent("0.009", &ppm), -ERANGE);
	assert_int_equal(units__parse_percent("0", &ppm), -ERANGE);
	assert_int_equal(units__parse_percent("100.1%", &ppm), -ERANGE);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(units__parse_percent(wrong[i], &ppm), -EINVAL);
	assert_int_equal(ppm, 1000000);
}

static void writes_percents_without_needless_zeros(void **state)
{
	char to[UNITS_SIZE];

	(void)state;
	assert_string_equal(units__format_percent(10000, to, sizeof(to)), "1%");
	assert_string_equal(units__format_percent(100000, to, sizeof(to)), "10%");
	assert_string_equal(units__format_percent(5000, to, sizeof(to)), "0.5%");
	assert_string_equal(units__format_percent(100, to, sizeof(to)), "0.01%");
	assert_string_equal(units__format_percent(12345, to, sizeof(to)), "1.2345%");
}

static void writes_periods_as_frequencies(void **state)
{
	char to[UNITS_SIZE];

	(void)state;
	assert_string_equal(units__format_frequency(1000000, to, sizeof(to)), "1,000 Hz");
	assert_string_equal(units__format_frequency(16000000, to, sizeof(to)), "62.5 Hz");
	assert_string_equal(units__format_frequency(0, to, sizeof(to)), "0 Hz");
}

static void writes_clocks(void **state)
{
	char to[UNITS_SIZE];

	(void)state;
	assert_string_equal(units__format_clock(0, to, sizeof(to)), "0:00:00.000");
	assert_string_equal(units__format_clock(30004 * MS, to, sizeof(to)), "0:00:30.004");
	assert_string_equal(units__format_clock(999999, to, sizeof(to)), "0:00:00.000");
	assert_string_equal(units__format_clock(27 * H + 3 * MIN + 9 * S, to, sizeof(to)),
			    "27:03:09.000");
	assert_string_equal(units__format_clock(UINT64_MAX, to, sizeof(to)), "5124095:34:33.709");
}

static void writes_times_with_three_digits(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{0, "0 s"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{812 * 1000, "812 us"},
		{1234567, "1.23 ms"},
		{1230 * MS, "1.23 s"},
		{9996 * MS, "10.0 s"},
		{59900 * MS, "59.9 s"},
		{59960 * MS, "1 min 00 s"},
		{4 * MIN + 5 * S, "4 min 05 s"},
		{H - 400 * MS, "1 h 00 min"},
		{2 * H + 7 * MIN, "2 h 07 min"},
		{8760 * H, "8760 h 00 min"},
	};
	char to[UNITS_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		assert_string_equal(units__format_time(times[i].ns, to, sizeof(to)), times[i].text);
}

static void groups_counts_by_thousands(void **state)
{
	char to[UNITS_SIZE];

	(void)state;
	assert_string_equal(units__format_count(0, to, sizeof(to)), "0");
	assert_string_equal(units__format_count(999, to, sizeof(to)), "999");
	assert_string_equal(units__format_count(1000, to, sizeof(to)), "1,000");
	assert_string_equal(units__format_count(1234567, to, sizeof(to)), "1,234,567");
	assert_string_equal(units__format_count(UINT64_MAX, to, sizeof(to)),
			    "18,446,744,073,709,551,615");
}

static void says_how_much_a_file_holds(void **state)
{
	char to[UNITS_SIZE];

	(void)state;
	assert_string_equal(units__format_size(0, to, sizeof(to)), "0 bytes");
	assert_string_equal(units__format_size(1, to, sizeof(to)), "1 byte");
	assert_string_equal(units__format_size(1023, to, sizeof(to)), "1023 bytes");
	assert_string_equal(units__format_size(1024, to, sizeof(to)), "1.0 KiB");
	assert_string_equal(units__format_size((1 << 20) - 1, to, sizeof(to)), "1.0 MiB");
	assert_string_equal(units__format_size(1300000, to, sizeof(to)), "1.2 MiB");
	assert_string_equal(units__format_size(UINT64_C(5) << 50, to, sizeof(to)), "5120.0 TiB");
}

static void says_all_and_nothing_only_when_it_is(void **state)
{
	char to[UNITS_SIZE];

	(void)state;
	assert_string_equal(units__format_share(0, 7, to, sizeof(to)), "0.0%");
	assert_string_equal(units__format_share(1, 1000000, to, sizeof(to)), "<0.1%");
	assert_string_equal(units__format_share(971, 1000, to, sizeof(to)), "97.1%");
	assert_string_equal(units__format_share(999999, 1000000, to, sizeof(to)), ">99.9%");
	assert_string_equal(units__format_share(7, 7, to, sizeof(to)), "100.0%");
	assert_string_equal(units__format_share(231, 100, to, sizeof(to)), "231.0%");
	assert_string_equal(units__format_share(0, 0, to, sizeof(to)), "-");
	assert_string_equal(units__format_share(UINT64_MAX / 2, UINT64_MAX, to, sizeof(to)),
			    "50.0%");
}

static void writes_shares_in_whole_percent(void **state)
{
	char to[UNITS_SIZE];

	(void)state;
	assert_string_equal(units__format_short_share(0, 7, to, sizeof(to)), "0%");
	assert_string_equal(units__format_short_share(1, 1000, to, sizeof(to)), "<1%");
	assert_string_equal(units__format_short_share(906, 1000, to, sizeof(to)), "91%");
	assert_string_equal(units__format_short_share(999, 1000, to, sizeof(to)), ">99%");
	assert_string_equal(units__format_short_share(7, 7, to, sizeof(to)), "100%");
	assert_string_equal(units__format_short_share(0, 0, to, sizeof(to)), "-");
}

static void cuts_off_what_does_not_fit(void **state)
{
	char to[4];

	(void)state;
	assert_string_equal(units__format_count(1234567, to, sizeof(to)), "1,2");
	assert_string_equal(units__format_clock(S, to, sizeof(to)), "0:0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sizes),
		cmocka_unit_test(reads_durations_with_and_without_units),
		cmocka_unit_test(refuses_what_is_no_duration),
		cmocka_unit_test(refuses_durations_of_nothing_and_of_more_than_a_year),
		cmocka_unit_test(reads_frequencies_as_periods),
		cmocka_unit_test(refuses_frequencies_out_of_range_and_other_text),
		cmocka_unit_test(reads_percents_as_millionths),
		cmocka_unit_test(writes_percents_without_needless_zeros),
		cmocka_unit_test(writes_periods_as_frequencies),
		cmocka_unit_test(writes_clocks),
		cmocka_unit_test(writes_times_with_three_digits),
		cmocka_unit_test(groups_counts_by_thousands),
		cmocka_unit_test(says_how_much_a_file_holds),
		cmocka_unit_test(says_all_and_nothing_only_when_it_is),
		cmocka_unit_test(writes_shares_in_whole_percent),
		cmocka_unit_test(cuts_off_what_does_not_fit),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
