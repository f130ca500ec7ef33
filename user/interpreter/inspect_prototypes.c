/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads lines, call sites, definitions and names of functions from the memory of a process, and
 * derives their layout.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interpreter/inspection_internal.h"
#include "memory/target_memory.h"
#include "symbols/c_functions.h"

#define ERRNO_MAX 4095 /* the kernel's MAX_ERRNO */

/* ---- in the worker and in luaspy */

static bool is_about_nested(uint32_t subject)
{
	return subject == INQUIRY_NESTED || subject == INQUIRY_KEPT;
}

/* ---- in the worker */

/* The part of an inquiry that is sent. */
struct question {
	struct prototype_key key;
	uint32_t subject, pc;
};

void reading__take(struct message *request, pid_t pid, struct reading *reading)
{
	const struct family *family =
		families__get((uint32_t)message__take_number(request, LS_FAMILY_COUNT - 1));

	reading->memory = (struct target_memory){.pid = pid};
	reading->ops = family->memory;
	message__take(request, reading->offsets, family->offsets_size);
}

static void read_lines(const struct reading *reading, const struct question *question,
		       struct message *answer)
{
	struct line_table *lines = NULL;
	int error = reading->ops->read_lines(&reading->memory, reading->offsets,
					     question->key.address, &lines);
	int stale =
		reading->ops->check_prototype(&reading->memory, reading->offsets, &question->key);

	/* What was read counts only if the sampled prototype is still there. */
	error = stale ? stale : error;
	message__put_number(answer, (uint64_t)-error);
	if (!error)
		line_table__put(lines, answer);
	line_table__free(lines);
}

static void read_call_site(const struct reading *reading, const struct question *question,
			   struct message *answer)
{
	struct call_site site = {};
	int error = reading->ops->read_call_site(&reading->memory, reading->offsets,
						 question->key.address, question->pc, &site);
	int stale =
		reading->ops->check_prototype(&reading->memory, reading->offsets, &question->key);

	error = stale ? stale : error;
	message__put_number(answer, (uint64_t)-error);
	if (error)
		return;
	message__put_number(answer, site.kind);
	message__put_text(answer, site.name);
	message__put_number(answer, site.is_covered);
}

static void read_nested(const struct reading *reading, const struct question *question,
			struct message *answer)
{
	struct nested_definitions found = {};
	int error = reading->ops->read_nested
			    ? reading->ops->read_nested(&reading->memory, reading->offsets,
							question->key.address, &found)
			    : -ENOTSUP;

	/* Most define none, and need no check. */
	if (!error && found.count && question->subject == INQUIRY_NESTED)
		error = reading->ops->check_prototype(&reading->memory, reading->offsets,
						      &question->key);
	message__put_number(answer, (uint64_t)-error);
	if (!error) {
		message__put_number(answer, found.count);
		message__put_number(answer, found.is_covered);
	}
	for (size_t i = 0; i < found.count && !error; i++) {
		message__put_number(answer, found.items[i].address);
		message__put_number(answer, found.items[i].fingerprint);
		message__put_text(answer, found.items[i].name);
	}
	free(found.items);
}

int handle_prototypes(struct inspection *inspection, pid_t pid, struct message *request,
		      struct message *answer)
{
	struct reading reading;
	uint64_t count;

	(void)inspection;
	reading__take(request, pid, &reading);
	count = message__take_number(request, PROTOTYPE_INQUIRIES_MAX);
	for (uint64_t i = 0; i < count && !request->error; i++) {
		struct question question;

		message__take(request, &question, sizeof(question));
		if (request->error)
			break;
		if (question.subject == INQUIRY_CALL)
			read_call_site(&reading, &question, answer);
		else if (is_about_nested(question.subject))
			read_nested(&reading, &question, answer);
		else
			read_lines(&reading, &question, answer);
	}
	return message__end(request);
}

int handle_prototype(struct inspection *inspection, pid_t pid, struct message *request,
		     struct message *answer)
{
	struct reading reading;
	struct prototype_key key;
	int error;

	(void)inspection;
	(void)answer;
	reading__take(request, pid, &reading);
	message__take(request, &key, sizeof(key));
	error = message__end(request);
	return error ? error : reading.ops->check_prototype(&reading.memory, reading.offsets, &key);
}

int handle_c_functions(struct inspection *inspection, pid_t pid, struct message *request,
		       struct message *answer)
{
	struct c_function_names *names = c_function_names__new();
	struct reading reading;
	uint64_t state;
	int error;

	reading__take(request, pid, &reading);
	message__take(request, &state, sizeof(state));
	error = message__end(request);
	if (!names)
		error = -ENOMEM;
	/* c_functions__read() reads hundreds of objects in a few dozen pages. */
	page_cache__clear(inspection->pages);
	reading.memory.pages = inspection->pages;
	if (!error && reading.ops->tables)
		error = c_functions__read(names, reading.ops->tables, &reading.memory,
					  reading.offsets, state);
	/* An error cuts the reading short; what was read before it counts. */
	if (names && error != -ENOMEM)
		c_function_names__put(names, answer);
	c_function_names__free(names);
	return error == -ENOMEM ? error : 0;
}

int handle_calibrate(struct inspection *inspection, pid_t pid, struct message *request,
		     struct message *answer)
{
	const struct family *family =
		families__get((uint32_t)message__take_number(request, LS_FAMILY_COUNT - 1));
	struct target_memory memory = {.pid = pid, .pages = inspection->pages};
	uint64_t state = message__take_number(request, UINT64_MAX);
	_Alignas(8) uint8_t offsets[LAYOUT_OFFSETS_MAX];
	char reason[CALIBRATION_REASON_SIZE] = "";
	int error = message__end(request);

	if (!error && !family->calibrate)
		error = -ENOTSUP;
	/* Hundreds of objects in a few dozen pages are read. */
	page_cache__clear(inspection->pages);
	if (!error)
		error = family->calibrate(&memory, state, offsets, reason, sizeof(reason));
	if (error && error != -ENODATA)
		return error;
	message__put_number(answer, !error);
	message__put_text(answer, reason);
	if (!error)
		message__put(answer, offsets, family->offsets_size);
	return 0;
}

/* ---- in luaspy */

void reading__put(struct message *request, const struct layout *layout)
{
	message__put_number(request, layout->family->id);
	message__put(request, layout->offsets, layout->family->offsets_size);
}

static void take_nested(struct message *answer, struct nested_definitions *nested)
{
	size_t count = message__take_number(answer, NESTED_DEFINITIONS_MAX);

	nested->is_covered = message__take_number(answer, 1);
	nested->items = count ? calloc(count, sizeof(*nested->items)) : NULL;
	if (count && !nested->items)
		answer->error = answer->error ? answer->error : -ENOMEM;
	for (; nested->count < count && !answer->error; nested->count++) {
		struct nested_definition *item = &nested->items[nested->count];

		item->address = message__take_number(answer, UINT64_MAX);
		item->fingerprint = message__take_number(answer, UINT64_MAX);
		message__take_text_into(answer, item->name, sizeof(item->name));
	}
}

static void take_call_site(struct message *answer, struct call_site *site)
{
	site->kind = (enum call_site_kind)message__take_number(answer, CALL_SITE_HOOK);
	message__take_text_into(answer, site->name, sizeof(site->name));
	site->is_covered = message__take_number(answer, 1);
}

static void take_answer(struct message *answer, struct prototype_inquiry *inquiry)
{
	inquiry->error = -(int)message__take_number(answer, ERRNO_MAX);
	if (inquiry->error || answer->error)
		return;
	if (inquiry->subject == INQUIRY_CALL)
		take_call_site(answer, &inquiry->site);
	else if (is_about_nested(inquiry->subject))
		take_nested(answer, &inquiry->nested);
	else
		inquiry->error = line_table__take(answer, &inquiry->lines);
}

/* Answers all with that error, after dropping what was taken from an invalid answer. */
static int forget(struct prototype_inquiry *inquiries, size_t count, int error)
{
	for (size_t i = 0; i < count; i++) {
		line_table__free(inquiries[i].lines);
		free(inquiries[i].nested.items);
		inquiries[i].lines = NULL;
		inquiries[i].nested = (struct nested_definitions){};
		inquiries[i].error = error;
	}
	return error;
}

int inspector__prototypes(struct inspector *inspector, pid_t pid, const struct layout *layout,
			  struct prototype_inquiry *inquiries, size_t count)
{
	struct message *answer, *request;
	int error;

	if (!layout->family->memory)
		return forget(inquiries, count, -ENOTSUP);
	request = inspector__request(inspector, INSPECTOR_MEMORY, INSPECT_PROTOTYPES, pid);
	reading__put(request, layout);
	message__put_number(request, count);
	for (size_t i = 0; i < count; i++) {
		const struct question question = {inquiries[i].key, inquiries[i].subject,
						  inquiries[i].pc};

		message__put(request, &question, sizeof(question));
		inquiries[i].lines = NULL;
		inquiries[i].site = (struct call_site){};
		inquiries[i].nested = (struct nested_definitions){};
	}
	error = inspector__ask(inspector, &answer);
	if (error)
		return forget(inquiries, count, error);
	for (size_t i = 0; i < count && !answer->error; i++)
		take_answer(answer, &inquiries[i]);
	error = message__end(answer);
	return error ? forget(inquiries, count, error) : 0;
}

int inspector__check_prototype(struct inspector *inspector, pid_t pid, const struct layout *layout,
			       const struct prototype_key *key)
{
	struct message *answer, *request;

	if (!layout->family->memory)
		return -ENOTSUP;
	request = inspector__request(inspector, INSPECTOR_MEMORY, INSPECT_PROTOTYPE, pid);
	reading__put(request, layout);
	message__put(request, key, sizeof(*key));
	return inspector__ask(inspector, &answer);
}

int inspector__c_functions(struct inspector *inspector, pid_t pid, const struct layout *layout,
			   uint64_t state, struct c_function_names *names)
{
	struct message *answer, *request;
	int error;

	if (!layout->family->memory)
		return -ENOTSUP;
	request = inspector__request(inspector, INSPECTOR_MEMORY, INSPECT_C_FUNCTIONS, pid);
	reading__put(request, layout);
	message__put(request, &state, sizeof(state));
	error = inspector__ask(inspector, &answer);
	return error ? error : c_function_names__take(names, answer);
}

int inspector__calibrate(struct inspector *inspector, pid_t pid, const struct family *family,
			 uint64_t state, struct calibrated *calibrated)
{
	struct message *answer, *request;
	bool is_derived;
	int error;

	request = inspector__request(inspector, INSPECTOR_MEMORY, INSPECT_CALIBRATE, pid);
	message__put_number(request, family->id);
	message__put_number(request, state);
	error = inspector__ask(inspector, &answer);
	if (error)
		return error;
	is_derived = message__take_number(answer, 1);
	message__take_text_into(answer, calibrated->reason, sizeof(calibrated->reason));
	if (is_derived)
		message__take(answer, calibrated->offsets, family->offsets_size);
	error = message__end(answer);
	return !error && !is_derived ? -ENODATA : error;
}
