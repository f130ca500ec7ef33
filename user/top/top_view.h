/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screen of `luaspy top`, line by line, as text with a style, which is all that painting needs.
 * Lost samples and luaspy's cost are on every screen of three lines or more and, if that cost is
 * limited, the state of the limit is on those of four or more.
 */
#ifndef LS_TOP_VIEW_H
#define LS_TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "statistics/function_stats.h"
#include "top/listing.h"

enum top_view_state { TOP_VIEW_LIVE, TOP_VIEW_PAUSED, TOP_VIEW_ENDED };

enum top_view_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_HEAD, /* of the table */
	STYLE_GONE, /* a process that has ended, or a function of it */
	STYLE_FOUND,
	STYLE_CURSOR,
	STYLE_KEYS,
};

/* What luaspy costs, relative to the targets' CPU time: see ls_profile_overhead. */
struct top_view_limit {
	uint32_t ppm; /* 0: there is none, and nothing else is known */
	uint64_t period_ns, asked_period_ns;
	uint64_t recent_ns; /* cost during the span of function_stats__recent() */
	uint64_t all_ns;    /* cost since sampling began */
	uint64_t all_cpu_ns;
};

/* Strings are borrowed, may be NULL, and need not have been escaped. */
struct top_view {
	unsigned width, height;
	bool is_utf8;
	enum top_view_state state;
	const struct function_stats *stats;
	const struct listing *listing;
	const char *target;               /* a process, or a name for all of them */
	bool is_merged;                   /* a row may stand for several processes */
	const char *interpreter, *layout; /* of one process */
	bool gc_is_known;
	uint64_t own_cpu_ns; /* luaspy's, during the span of function_stats__recent() */
	uint64_t bpf_ns;     /* the BPF programs', likewise; 0: not known */
	struct top_view_limit limit;
	uint64_t warnings;     /* and errors so far */
	const char *message;   /* the last one, shown until a key is pressed; "": none */
	const char *why_empty; /* shown while there are no rows */
};

/* How many rows of the table fit on the screen. */
uint32_t top_view__rows(const struct top_view *top_view);

/* The last line of the help that may be the first on this screen; 0: all of it fits. */
uint32_t top_view__help_last(const struct top_view *top_view);

/*
 * Paints every line from the top, at most `height` of them. Each is valid in the locale's encoding,
 * no wider than `width` and without control characters.
 */
void top_view__draw(const struct top_view *top_view,
		    void (*paint)(void *context, enum top_view_style style, const char *text),
		    void *context);

#endif
