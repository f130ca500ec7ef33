/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which rows of the statistics are shown, in what order, and how keys change that. Independent of
 * the terminal: a key is a character or one of the following.
 */
#ifndef LS_LISTING_H
#define LS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "statistics/function_calls.h"
#include "statistics/function_stats.h"

enum listing_key {
	LISTING_UP = 0x110000, /* beyond all characters */
	LISTING_DOWN,
	LISTING_PAGE_UP,
	LISTING_PAGE_DOWN,
	LISTING_HOME,
	LISTING_END,
	LISTING_ENTER,
	LISTING_ESCAPE,
	LISTING_ERASE, /* backspace */
	LISTING_OTHER, /* a key without a meaning */
};

/*
 * Columns of functions. For processes these are CPU, share of script, time, samples, name; for
 * callers and callees CPU and its share of the function's, time and its share, name.
 */
enum listing_column {
	LISTING_RECENT_SELF,
	LISTING_RECENT_TOTAL,
	LISTING_SELF,
	LISTING_TOTAL,
	LISTING_NAME,
	LISTING_COLUMNS,
};

enum listing_view {
	LISTING_FUNCTIONS,   /* of all processes */
	LISTING_PROCESSES,   /* where there are several */
	LISTING_ONE_PROCESS, /* the functions of one of them */
	LISTING_CALLS,       /* callers and callees of one function, in one process */
	LISTING_VIEWS,
};

/* What the caller must do. */
enum listing_demand {
	LISTING_NOTHING,
	LISTING_QUIT,
	LISTING_PAUSE, /* or resume */
	LISTING_RESET,
	LISTING_WRITE,
	LISTING_HIDE,       /* or show again: function_stats__hide() of `hidden` */
	LISTING_NO_PLUGINS, /* say that no plugins are known that could be hidden */
	LISTING_NOT_FOUND,  /* say that no row has the text of the search */
	LISTING_COUNT,      /* function_calls__count() of listing__choice() */
};

/* The size of prompts and patterns: UTF-8, NUL-terminated. */
#define LISTING_TEXT 128

enum listing_prompt { LISTING_NO_PROMPT, LISTING_SEARCH, LISTING_FILTER };

/* The state of each view. */
struct listing_page {
	enum listing_column column;
	bool is_reversed;
	char search[LISTING_TEXT]; /* "": none */
	char filter[LISTING_TEXT];
	uint32_t cursor; /* index into `order` */
	uint32_t first;  /* likewise, of the first row on the screen */
	/* The row that the cursor follows when the order changes; process 0: it stays at the top.
	 * In LISTING_CALLS, `chosen_process` is the row's role + 1.
	 */
	uint32_t chosen_process, chosen;
	bool is_new; /* the cursor has to come into the middle of the screen */
};

/* A function on the way from the list of functions to LISTING_CALLS of the last of them. */
#define LISTING_STEPS 32
struct listing_step {
	uint32_t function; /* as in struct calls_choice */
	bool is_plugin;
	struct listing_page page;
};

struct listing {
	struct listing_page pages[LISTING_VIEWS];
	enum listing_view view;
	enum listing_view behind; /* in LISTING_ONE_PROCESS: the view to return to */
	uint32_t one;             /* that process's id; in LISTING_CALLS the function's */
	struct listing_step steps[LISTING_STEPS];
	uint32_t step_count;            /* 0: not in LISTING_CALLS */
	enum listing_view behind_calls; /* the view to return to from the first step */
	unsigned hidden;                /* enum stats_hidden */
	bool has_plugins;               /* to be set after listing__init() */
	uint32_t average_s;             /* times are averages of so many seconds; 0: sums */
	bool is_of_many;
	bool shows_help;
	uint32_t help_first; /* its first line on the screen */
	uint32_t help_last;  /* the most that this may be; to be set before a key is handled */
	enum listing_prompt prompt;
	char typed[LISTING_TEXT];     /* at the prompt */
	const struct stats_row *rows; /* borrowed from the statistics, and so are the processes */
	const struct stats_process *processes;
	uint32_t *order; /* indices of the rows or processes that pass the filter, sorted */
	uint32_t count, room;
	uint32_t row_count; /* in the view, without the filter */
	uint32_t height;    /* rows on the screen */
};

void listing__init(struct listing *listing, enum listing_column column);
void listing__free(struct listing *listing);

/* The names of columns, as --sort takes them. Returns the column, or -EINVAL. */
#define LISTING_SORTS "self, total, all-self, all-total or name"
int listing__find_column(const char *name);

/* The span of an average: "1s", "1m", "5m" or "10m" in seconds, or -EINVAL. */
#define LISTING_AVERAGES "1s, 1m, 5m or 10m"
int listing__find_average(const char *text);

/* `before` and the span, such as "5m"; "" if times are sums. Returns `to`. */
const char *listing__format_average(const struct listing *listing, const char *before, char *to,
				    size_t size);

/* After each update of the statistics: forgets functions whose ids have been reused. */
void listing__follow(struct listing *listing, const struct function_stats *stats);

/* To be called if there are new rows, or the screen's height changes. 0 or -ENOMEM. */
int listing__update(struct listing *listing, const struct function_stats *stats, uint32_t height);

/* Handles a key. The caller must do what is returned, then call listing__update(). */
enum listing_demand listing__press(struct listing *listing, uint32_t key);

static inline const struct listing_page *listing__page(const struct listing *listing)
{
	return listing->view == LISTING_CALLS ? &listing->steps[listing->step_count - 1].page
					      : &listing->pages[listing->view];
}

/* What LISTING_CALLS shows. */
struct calls_choice listing__choice(const struct listing *listing);

/* Whether only one of several processes is shown: its functions, or callers and callees there. */
bool listing__is_of_one(const struct listing *listing);

/*
 * Row or process at an index of `order`. Rows are of functions, so not in LISTING_PROCESSES; those
 * of LISTING_CALLS have no process.
 */
const struct stats_row *listing__row(const struct listing *listing, uint32_t at);
const struct stats_process *listing__process(const struct listing *listing, uint32_t at);

/* The process of listing__is_of_one(); NULL: it is no longer kept apart. */
const struct stats_process *listing__one(const struct listing *listing,
					 const struct function_stats *stats);

/* Whether the search text is in a name or place of that row; false without a search. */
bool listing__is_found(const struct listing *listing, uint32_t at);

/* Whether there is a search, and no row has its text. */
bool listing__finds_nothing(const struct listing *listing);

/* The name and "source:line" of a row as they are shown, but not yet escaped. */
const char *listing__name(const struct stats_row *row);
const char *listing__process_name(const struct stats_process *process);
void listing__place(const struct stats_row *row, char *to, size_t size);

#endif
