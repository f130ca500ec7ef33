/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which rows of a tally are shown, in what order, and what keys make of that. Knows no terminal:
 * keys are characters or one of the following.
 */
#ifndef LS_LISTING_H
#define LS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "tally.h"

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

/* Those of functions; of processes: CPU, share of script, time, samples, name. */
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
	LISTING_VIEWS,
};

/* What is left to the caller. */
enum listing_demand {
	LISTING_NOTHING,
	LISTING_QUIT,
	LISTING_PAUSE, /* or go on */
	LISTING_RESET,
	LISTING_WRITE,
};

/* For prompts and patterns: UTF-8, ended by NUL. */
#define LISTING_TEXT 128

enum listing_prompt { LISTING_NO_PROMPT, LISTING_SEARCH, LISTING_FILTER };

/* What each view has for itself. */
struct listing_page {
	enum listing_column column;
	bool is_reversed;
	char search[LISTING_TEXT]; /* "": none */
	char filter[LISTING_TEXT];
	uint32_t cursor; /* in `order` */
	uint32_t first;  /* of those on the screen */
	/* The row that the cursor follows when the order changes; 0: it stays at the top. */
	uint32_t chosen_process, chosen;
};

struct listing {
	struct listing_page pages[LISTING_VIEWS];
	enum listing_view view;
	enum listing_view behind; /* LISTING_ONE_PROCESS: what is shown after it */
	uint32_t one;             /* that process's id */
	bool is_of_many;
	bool shows_help;
	enum listing_prompt prompt;
	char typed[LISTING_TEXT];     /* into the prompt */
	const struct tally_row *rows; /* borrowed from the tally, and so are the processes */
	const struct tally_process *processes;
	uint32_t *order; /* of rows or processes that pass the filter: their indices */
	uint32_t count, room;
	uint32_t row_count; /* of the view, whatever the filter */
	uint32_t height;    /* rows on the screen */
};

void listing__init(struct listing *listing, enum listing_column column);
void listing__free(struct listing *listing);

/* The names of columns, as --sort takes them. The column, or -EINVAL. */
#define LISTING_SORTS "self, total, all-self, all-total or name"
int listing__find_column(const char *name);

/* There are new rows, or the screen has another height. 0 or -ENOMEM. */
int listing__update(struct listing *listing, const struct tally *tally, uint32_t height);

/* A key was pressed. What it asks for is then to be done, and the listing updated. */
enum listing_demand listing__press(struct listing *listing, uint32_t key);

static inline const struct listing_page *listing__page(const struct listing *listing)
{
	return &listing->pages[listing->view];
}

/* What is at a place in `order`; the first of LISTING_FUNCTIONS and LISTING_ONE_PROCESS alone. */
const struct tally_row *listing__row(const struct listing *listing, uint32_t at);
const struct tally_process *listing__process(const struct listing *listing, uint32_t at);

/* The process of LISTING_ONE_PROCESS; NULL: it is kept apart no more. */
const struct tally_process *listing__one(const struct listing *listing, const struct tally *tally);

/* Whether what is searched for is in a name or place of what is there. False where nothing is. */
bool listing__is_found(const struct listing *listing, uint32_t at);

/* The name and "source:line" of a row as they are shown, but not yet escaped. */
const char *listing__name(const struct tally_row *row);
void listing__place(const struct tally_row *row, char *to, size_t size);

#endif
