/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "document.h"
#include "format/write_scriptprofiler.h"
#include "profile/totals.h"

int document__set_up(void **state)
{
	struct document *document = calloc(1, sizeof(*document));

	*state = document;
	if (!document)
		return -1;
	document->tree = call_tree__new();
	return document->tree ? 0 : -1;
}

static void forget_document(struct document *document)
{
	json_decref(document->json);
	document->json = NULL;
	free(document->text);
	document->text = NULL;
}

int document__tear_down(void **state)
{
	struct document *document = *state;

	forget_document(document);
	call_tree__free(document->tree);
	free(document);
	return 0;
}

int document__write(struct document *document, FILE *stream)
{
	struct merged_profile *merged;
	struct ls_totals totals;
	int error;

	call_tree__export(document->tree, &document->profile);
	document->profile.functions = document->functions;
	document->profile.function_count = FUNCTIONS;
	assert_int_equal(merged_profile__new(&document->profile, document->lines, &merged), 0);
	assert_int_equal(totals__compute(merged_profile__profile(merged), &totals), 0);
	error = write_scriptprofiler(merged_profile__profile(merged), &totals, stream);
	totals__free(&totals);
	merged_profile__free(merged);
	return error;
}

const char *document__text(struct document *document)
{
	size_t length;
	FILE *stream;

	forget_document(document);
	stream = open_memstream(&document->text, &length);
	assert_non_null(stream);
	assert_int_equal(document__write(document, stream), 0);
	assert_int_equal(fclose(stream), 0);
	return document->text;
}

json_t *document__json(struct document *document)
{
	json_error_t error;

	document->json = json_loads(document__text(document), JSON_REJECT_DUPLICATES, &error);
	if (!document->json)
		fail_msg("%s: %s", document->text, error.text);
	return document->json;
}

json_int_t document__number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

uint32_t document__charge_us(struct document *document, uint32_t parent, uint32_t function,
			     uint64_t us)
{
	uint32_t node = call_tree__child(document->tree, parent, function);

	assert_int_not_equal(node, 0);
	call_tree__add(document->tree, node, 1, 1000 * us);
	return node;
}
