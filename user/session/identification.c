/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "identification.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "interpreters_puc.h"
#include "layout_puc.h"
#include "log.h"
#include "process.h"

/* Samples that fit no candidate layout until all layouts are tried, and then until it is refused.
 */
#define MISFITS_MAX 64

/* Of so many rounds of samples without script, the last is tried with all layouts. */
#define ROUNDS        8
#define ROUND_SAMPLES 64

#define NOTICE_NS         200000000ULL
#define EAGER_NS          2000000000ULL
#define EAGER_INTERVAL_NS 4000000ULL

struct identification {
	struct identification_options options;
	struct interpreters_puc interpreters;
	char found[1024];
	char collector[512];         /* how the collectors that are known were found */
	char collector_unknown[512]; /* why the others were not */
	uint64_t looked_ns;          /* when the program was looked at first */
	uint64_t noticed_ns;         /* when it was looked for new mappings */
	uint64_t pages;              /* that were mapped then */
	uint16_t announced;          /* bit per layout */
	int tries_all;               /* all layouts are candidates */
	uint32_t changes;            /* of the interpreters */
};

struct identification *identification__new(const struct identification_options *options)
{
	struct identification *identification = calloc(1, sizeof(*identification));

	if (identification)
		identification->options = *options;
	return identification;
}

void identification__free(struct identification *identification)
{
	if (!identification)
		return;
	interpreters_puc__free(&identification->interpreters);
	free(identification);
}

static const char *purpose_of(const struct identification *identification)
{
	return identification->options.is_for_dump ? "dump" : "profile";
}

static int explain(const struct identification *identification, const char *target, int error)
{
	const struct interpreters_puc *found = &identification->interpreters;
	const char *purpose = purpose_of(identification);

	if (!error && found->other_count)
		log_error("cannot %s %s: it runs %s, which this version does not know yet", purpose,
			  target, found->others[0].name);
	else if (!error)
		log_error("cannot %s %s: no Lua in any of its files%s", purpose, target,
			  identification->options.is_for_dump ? "" : " (--wait waits for one)");
	else if (error == -ENOTSUP)
		log_error("cannot %s %s: not a 64-bit process of this machine", purpose, target);
	else if (error == -EACCES || error == -EPERM)
		log_error("cannot look into %s: permission denied (try sudo or CAP_SYS_PTRACE)",
			  target);
	else
		log_error("cannot look into %s: %s", target, strerror(-error));
	return error && error != -ENOTSUP ? error : -ENOENT;
}

static void describe(const struct interpreter_puc *interpreter, char *to, size_t size)
{
	snprintf(to, size, "Lua %s in %s, %s%s", interpreter->file.release, interpreter->path,
		 interpreter->file.is_shared_library ? "shared" : "static",
		 interpreter->file.is_stripped ? ", stripped" : "");
}

static int is_among(const struct interpreters_puc *found, const char *path)
{
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->items[i].path, path))
			return 1;
	for (size_t i = 0; i < found->other_count; i++)
		if (!strcmp(found->others[i].path, path))
			return 1;
	return 0;
}

static void __attribute__((format(printf, 3, 4)))
append(char *to, size_t size, const char *format, ...)
{
	size_t length = strlen(to);
	va_list arguments;

	va_start(arguments, format);
	if (length)
		snprintf(to + length, size - length, "; ");
	length = strlen(to);
	vsnprintf(to + length, size - length, format, arguments);
	va_end(arguments);
}

static void tell_interpreter(struct identification *identification,
			     const struct interpreter_puc *interpreter, int is_new,
			     const char *target)
{
	struct announced *announced = identification->options.announced;
	const struct collector_puc *collector = &interpreter->collector;
	char text[512];

	describe(interpreter, text, sizeof(text));
	if (is_new && (!announced || text_list__add(&announced->interpreters, text)))
		log_info("%s: %s", target, text);
	append(identification->found, sizeof(identification->found), "%s", text);
	if (is_new)
		log_debug("garbage collector: %s%s", collector->is_known ? "" : "not known, ",
			  collector->how);
	if (collector->is_known)
		append(identification->collector, sizeof(identification->collector), "%s",
		       collector->how);
	else
		append(identification->collector_unknown, sizeof(identification->collector_unknown),
		       "%s", collector->how);
}

/* Says what is there that was not there before. */
static void tell(struct identification *identification, const struct interpreters_puc *before,
		 const char *target)
{
	const struct interpreters_puc *found = &identification->interpreters;

	identification->found[0] = '\0';
	identification->collector[0] = '\0';
	identification->collector_unknown[0] = '\0';
	for (size_t i = 0; i < found->count; i++)
		tell_interpreter(identification, &found->items[i],
				 !is_among(before, found->items[i].path), target);
	for (size_t i = 0; i < found->other_count && found->count; i++)
		if (!is_among(before, found->others[i].path))
			log_warn("%s: also holds %s in %s, whose scripts are not profiled", target,
				 found->others[i].name, found->others[i].path);
	if (found->left_out)
		log_warn("%s: %zu more files with Lua are left out", target, found->left_out);
}

/* It may have no Lua, like most children, or be of no kind that can have one. */
static int look_at_child(struct identification *identification, const char *target, int error)
{
	const struct interpreters_puc *found = &identification->interpreters;
	const struct interpreters_puc nothing = {};

	if (error == -ENOMEM)
		return error;
	if (error)
		log_debug("cannot look into %s: %s", target, strerror(-error));
	else if (!found->count && found->other_count)
		log_warn("%s: runs %s, whose scripts are not profiled", target,
			 found->others[0].name);
	else
		tell(identification, &nothing, target);
	return 0;
}

int identification__look(struct identification *identification, const char *target)
{
	const struct identification_options *options = &identification->options;
	struct interpreters_puc nothing = {};
	int error;

	interpreters_puc__free(&identification->interpreters);
	identification->announced = 0;
	identification->tries_all = 0;
	identification->noticed_ns = 0;
	identification->changes++;
	identification->looked_ns = clock_ns(CLOCK_MONOTONIC);
	if (process__mapped_pages(options->pid, &identification->pages))
		identification->pages = 0;
	error = interpreters_puc__find(options->files, options->pid, &identification->interpreters);
	if (options->is_child)
		return look_at_child(identification, target, error);
	if (error || (!identification->interpreters.count && !options->layout && !options->waits))
		return explain(identification, target, error);
	tell(identification, &nothing, target);
	if (!identification->interpreters.count)
		log_info("%s: no Lua in any of its files so far", target);
	return 0;
}

void identification__begin(struct identification *identification, struct verdicts *verdicts)
{
	const struct interpreters_puc *found = &identification->interpreters;
	const char *forced = identification->options.layout;

	if (forced) {
		uint32_t layout = (uint32_t)layout_puc__find(forced);

		verdicts->count = 1;
		verdicts->items[0] = (struct verdict){.candidates = (uint16_t)(1U << layout),
						      .decided = (uint16_t)(1U << layout),
						      .layout = layout,
						      .is_forced = 1};
		return;
	}
	for (size_t i = 0; i < found->count; i++)
		verdicts__expect(verdicts, found->items[i].file.layouts);
}

/* A program that has just begun is about to load its libraries, and may not run for long. */
static uint64_t notice_interval_ns(const struct identification *identification, uint64_t now)
{
	return !identification->interpreters.count && now - identification->looked_ns < EAGER_NS
		       ? EAGER_INTERVAL_NS
		       : NOTICE_NS;
}

bool identification__notice(struct identification *identification, struct verdicts *verdicts,
			    const char *target)
{
	struct interpreters_puc before = identification->interpreters, found;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), pages;

	if (now - identification->noticed_ns < notice_interval_ns(identification, now))
		return false;
	identification->noticed_ns = now;
	/* A process that has ended has none, and says nothing of what it was. */
	if (process__mapped_pages(identification->options.pid, &pages) || !pages ||
	    pages == identification->pages)
		return true;
	identification->pages = pages;
	if (interpreters_puc__find(identification->options.files, identification->options.pid,
				   &found))
		return true;
	if (interpreters_puc__are_equal(&before, &found)) {
		interpreters_puc__free(&found);
		return true;
	}
	identification->interpreters = found;
	identification->changes++;
	tell(identification, &before, target);
	for (size_t i = 0; i < found.count && !identification->options.layout; i++)
		if (!is_among(&before, found.items[i].path))
			verdicts__expect(verdicts, found.items[i].file.layouts);
	interpreters_puc__free(&before);
	return true;
}

uint32_t identification__changes(const struct identification *identification)
{
	return identification->changes;
}

static int refuse(const struct identification *identification, const struct verdict *verdict,
		  const char *target)
{
	char score[512];

	verdict__score(verdict, score, sizeof(score));
	log_error("cannot %s %s: an unknown or modified Lua%s: %s (--layout forces one)",
		  purpose_of(identification), target,
		  verdict->is_contradicted ? ", which several layouts fit" : "", score);
	return -ENOENT;
}

/*
 * Without evidence all layouts are tried: for good where script fits none that the files speak for,
 * for a while now and then where no script is found, for files may lie. 1: all are of no avail.
 */
static int widen(struct identification *identification, struct verdict *verdict)
{
	uint64_t round = verdict->hosts / ROUND_SAMPLES % ROUNDS;

	if (verdict->has_evidence || verdict->is_forced)
		return 0;
	if (identification->tries_all)
		return verdict->misfits >= MISFITS_MAX;
	if (verdict->misfits >= MISFITS_MAX) {
		identification->tries_all = 1;
		verdict->misfits = 0;
		log_warn("no layout that its files speak for fits, trying all");
	}
	verdict->candidates = verdict->named;
	if (identification->tries_all || round == ROUNDS - 1)
		verdict->candidates |= interpreters_puc__all_layouts();
	return 0;
}

/* What is decided is told once; what fits nothing is tried with everything, then refused. */
int identification__settle(struct identification *identification, struct verdicts *verdicts,
			   const char *target)
{
	struct announced *announced = identification->options.announced;
	uint16_t decided = 0;
	char text[512];

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct verdict *verdict = &verdicts->items[i];

		if (verdict->is_contradicted)
			return refuse(identification, verdict, target);
		decided |= verdict->decided;
	}
	if (decided & ~identification->announced && !identification->options.layout) {
		identification->announced |= decided;
		if (announced && !(decided & ~announced->layouts))
			return 0;
		if (announced)
			announced->layouts |= decided;
		verdicts__describe(verdicts, text, sizeof(text));
		log_info("layout %s", text);
	}
	for (size_t i = 0; i < verdicts->count && !decided; i++)
		if (widen(identification, &verdicts->items[i]))
			return refuse(identification, &verdicts->items[i], target);
	return 0;
}

int identification__end(struct identification *identification, const struct verdicts *verdicts,
			const char *target)
{
	const struct verdict *misfit = NULL;

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct verdict *verdict = &verdicts->items[i];

		if (verdict->is_contradicted)
			return refuse(identification, verdict, target);
		if (verdict->has_evidence || verdict->is_forced)
			return 0;
		if (verdict->misfits)
			misfit = verdict;
	}
	return misfit ? refuse(identification, misfit, target) : 0;
}

static int compare_code(const void *left, const void *right)
{
	const struct ls_code *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Of all interpreters, as far as there is room: what is left out is the time of its functions. */
static void add_collector(const struct collector_puc *collector, struct ls_target *target)
{
	if (!collector->is_known || collector->map_count > LS_CODE_MAP_MAX - target->map_count)
		return;
	memcpy(target->map + target->map_count, collector->map,
	       collector->map_count * sizeof(target->map[0]));
	target->map_count += collector->map_count;
	qsort(target->map, target->map_count, sizeof(target->map[0]), compare_code);
}

void identification__target(const struct identification *identification,
			    const struct verdicts *verdicts, struct ls_target *target)
{
	const struct interpreters_puc *found = &identification->interpreters;

	*target = (struct ls_target){.family = LS_FAMILY_PUC};
	target->layouts = verdicts__to_try(verdicts);
	target->decided = verdicts__decided(verdicts);
	for (size_t i = 0; i < found->count; i++)
		add_collector(&found->items[i].collector, target);
	if (found->count)
		memcpy(target->code, found->items[0].code, sizeof(target->code));
}

bool identification__is_like(const struct identification *one, const struct identification *other)
{
	return interpreters_puc__are_equal(&one->interpreters, &other->interpreters);
}

const char *identification__found(const struct identification *identification)
{
	return identification->found[0] ? identification->found : NULL;
}

const char *identification__collector(const struct identification *identification)
{
	return identification->collector[0] ? identification->collector : NULL;
}

const char *identification__collector_unknown(const struct identification *identification)
{
	return identification->collector_unknown[0] ? identification->collector_unknown : NULL;
}
