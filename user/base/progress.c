/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/units.h"

#define NS_PER_S    UINT64_C(1000000000)
#define REDRAW_NS   (NS_PER_S / 5)
#define LINE_SIZE   256
#define CLEAR_RIGHT "\033[K"

static bool drawn;
static uint64_t last_draw_ns;

static uint64_t now_ns(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static bool can_draw(void)
{
	const char *term = getenv("TERM");

	return log__level() >= LOG_INFO && isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

/* "0:12", from an hour on "1:02:03" */
static const char *format_seconds(uint64_t seconds, char *to, size_t size)
{
	if (seconds < 3600)
		snprintf(to, size, "%u:%02u", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
	else
		snprintf(to, size, "%" PRIu64 ":%02u:%02u", seconds / 3600,
			 (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	return to;
}

static void format_line(const struct progress *progress, char *line, size_t size)
{
	char time[UNITS_SIZE], samples[UNITS_SIZE], share[UNITS_SIZE], lost[UNITS_SIZE];
	const char *paused = progress->is_paused ? "paused  " : "";
	bool countdown = progress->duration_ns != 0;
	uint64_t ns = progress->elapsed_ns;

	/* Round up, so that the whole duration is left at the start, and 0:00 is the end. */
	if (countdown)
		ns = progress->duration_ns > ns ? progress->duration_ns - ns + NS_PER_S - 1 : 0;
	format_seconds(ns / NS_PER_S, time, sizeof(time));
	if (progress->is_waiting) {
		snprintf(line, size, "  starts in %s", time);
		return;
	}
	if (!progress->samples) {
		snprintf(line, size, "  %s %s  %sno samples yet", time,
			 countdown ? "left" : "elapsed", paused);
		return;
	}
	units__format_count(progress->samples, samples, sizeof(samples));
	units__format_share(progress->script_samples, progress->samples, share, sizeof(share));
	units__format_count(progress->lost, lost, sizeof(lost));
	snprintf(line, size, "  %s %s  %s%s samples  %s in script  %s lost", time,
		 countdown ? "left" : "elapsed", paused, samples, share, lost);
}

/* A failed write to the terminal is no reason for a message, or for ending the session. */
static void write_out(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

	(void)ignored;
}

void progress__show(const struct progress *progress)
{
	char line[LINE_SIZE], text[LINE_SIZE + sizeof(CLEAR_RIGHT "\r")];
	uint64_t now = now_ns();
	unsigned columns;

	if (last_draw_ns && now - last_draw_ns < REDRAW_NS)
		return;
	if (!can_draw() || !terminal__takes_more(STDERR_FILENO))
		return;
	columns = terminal__columns(STDERR_FILENO);
	format_line(progress, line, sizeof(line));
	/* The last column stays free: filling it would make some terminals wrap. */
	if (!columns)
		columns = 80;
	if (columns <= strlen(line))
		line[columns - 1] = '\0';
	snprintf(text, sizeof(text), "%s" CLEAR_RIGHT "\r", line);
	write_out(text);
	drawn = true;
	log__call_before(progress__clear);
	last_draw_ns = now;
}

void progress__clear(void)
{
	if (!drawn || !terminal__takes_more(STDERR_FILENO))
		return;
	write_out("\r" CLEAR_RIGHT);
	drawn = false;
}
