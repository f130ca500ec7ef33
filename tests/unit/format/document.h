/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A profile that a test makes up, and the ScriptProfiler file written from it. */
#ifndef TEST_DOCUMENT_H
#define TEST_DOCUMENT_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "profile/call_tree.h"
#include "profile/merged_profile.h"

#define FUNCTIONS 8

struct document {
	struct call_tree *tree;
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct ls_profile profile;
	enum merged_lines lines;
	char *text;
	json_t *json;
};

/* For a test, whose state is the document. */
int document__set_up(void **state);
int document__tear_down(void **state);

#define with_document(test)                                                                        \
	cmocka_unit_test_setup_teardown(test, document__set_up, document__tear_down)

/* Adds a sample and returns its node. */
uint32_t document__charge_us(struct document *document, uint32_t parent, uint32_t function,
			     uint64_t us);

/* Writes the profile by the same path as a recording. 0 or a negative errno. */
int document__write(struct document *document, FILE *stream);

/* Return the written file, as text and as JSON; valid until the next call of either. */
const char *document__text(struct document *document);
json_t *document__json(struct document *document);

/* Returns the number under that key of an object. */
json_int_t document__number(const json_t *object, const char *key);

#endif
