/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report_fixture.h"

void charge_stack(struct fixture *fixture, uint64_t ms, const uint32_t *stack)
{
	uint32_t node = fixture->category;

	for (; *stack; stack++)
		node = call_tree__child(fixture->tree, node, *stack);
	assert_int_not_equal(node, 0);
	call_tree__add(fixture->tree, node, ms, ms * NS_PER_MS);
}

int report_fixture__set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->functions[MAIN] =
		(struct ls_profile_function){.name = "main chunk", .source = "app.lua"};
	fixture->functions[WORK] =
		(struct ls_profile_function){.name = "work", .source = "app.lua", .line = 3};
	fixture->functions[GC] = (struct ls_profile_function){.name = "GC", .source = "GC"};
	fixture->functions[LEAF] = (struct ls_profile_function){
		.name = "leaf", .source = "app.lua", .line = 20, .first_line = 1, .line_count = 2};
	fixture->functions[PLUG] = (struct ls_profile_function){
		.name = "plug", .source = "plugin.lua", .line = 1, .flags = LS_FUNCTION_PLUGIN};
	fixture->functions[CONCAT] = (struct ls_profile_function){
		.name = "concat", .source = "[C]", .flags = LS_FUNCTION_PLUGIN};
	fixture->functions[AT_LINE] = (struct ls_profile_function){.name = "work",
								   .source = "app.lua",
								   .line = 3,
								   .current_line = 5,
								   .function = WORK};
	fixture->functions[WRAP] =
		(struct ls_profile_function){.name = "wrap", .source = "app.lua", .line = 40};
	fixture->lines[1] = (struct ls_profile_line){.line = 21, .self_ns = 20 * NS_PER_MS};
	fixture->lines[2] = (struct ls_profile_line){.line = 22, .self_ns = 10 * NS_PER_MS};
	fixture->tree = call_tree__new();
	fixture->category = call_tree__category(fixture->tree, "main");
	charge(fixture, 10, MAIN);
	charge(fixture, 20, MAIN, WORK);
	charge(fixture, 5, MAIN, WORK, WORK);
	charge(fixture, 15, MAIN, WORK, WORK, GC);
	charge(fixture, 26, MAIN, WORK, LEAF);
	charge(fixture, 12, MAIN, PLUG);
	charge(fixture, 8, MAIN, PLUG, CONCAT);
	charge(fixture, 4, MAIN, LEAF);
	fixture->profile.functions = fixture->functions;
	fixture->profile.function_count = LAST;
	fixture->profile.lines = fixture->lines;
	fixture->profile.line_count = 3;
	fixture->profile.recorder.target = "app";
	fixture->profile.recorder.cpu_ns = 100 * NS_PER_MS;
	fixture->profile.recorder.duration_ns = 400 * NS_PER_MS;
	fixture->report = (struct report){.limit = 100, .no_source = true};
	return 0;
}

int report_fixture__tear_down(void **state)
{
	struct fixture *fixture = *state;

	totals__free(&fixture->totals);
	selected_profile__free(fixture->selected);
	call_tree__free(fixture->tree);
	free(fixture->text);
	free(fixture);
	return 0;
}

void select_from(struct fixture *fixture, size_t count, struct selection selection)
{
	const struct ls_profile *profiles[] = {&fixture->profile, &fixture->profile,
					       &fixture->profile};

	assert_true(count <= 3);
	call_tree__export(fixture->tree, &fixture->profile);
	totals__free(&fixture->totals);
	selected_profile__free(fixture->selected);
	assert_int_equal(selected_profile__new(profiles, count, &selection, &fixture->selected), 0);
	assert_int_equal(
		totals__compute(selected_profile__profile(fixture->selected), &fixture->totals), 0);
	fixture->report.selected = fixture->selected;
	fixture->report.totals = &fixture->totals;
	fixture->report.selection = selection;
}

uint32_t id_of(const struct fixture *fixture, const char *name, const char *source)
{
	const struct ls_profile *profile = selected_profile__profile(fixture->selected);

	for (uint32_t id = 1; id <= profile->function_count; id++)
		if (!strcmp(profile->functions[id].name, name) &&
		    !strcmp(profile->functions[id].source, source))
			return id;
	return 0;
}

uint64_t total_ms(const struct fixture *fixture, const char *name, const char *source)
{
	return fixture->totals.function_total_us[id_of(fixture, name, source)] / 1000;
}

uint64_t self_ms(const struct fixture *fixture, const char *name, const char *source)
{
	return fixture->totals.function_self_us[id_of(fixture, name, source)] / 1000;
}

const char *print(struct fixture *fixture, unsigned width, bool has_color)
{
	struct printer printer = {.width = width, .has_color = has_color};
	size_t size;

	free(fixture->text);
	fixture->text = NULL;
	printer.stream = open_memstream(&fixture->text, &size);
	assert_non_null(printer.stream);
	assert_int_equal(report__print(&fixture->report, &printer), 0);
	fclose(printer.stream);
	return fixture->text;
}
