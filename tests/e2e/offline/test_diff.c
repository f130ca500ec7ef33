/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy diff: what it says of recordings whose truth is known. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30

static const char before[] = "app;main (app.lua:1);parse (app.lua:3) 4000000\n"
			     "app;main (app.lua:1);serve (app.lua:9) 6000000\n";

/* `parse` takes a tenth more of its time. */
static const char after[] = "app;main (app.lua:1);parse (app.lua:3) 4400000\n"
			    "app;main (app.lua:1);serve (app.lua:9) 6000000\n";

static const char twice[] = "app;main (app.lua:1);parse (app.lua:3) 8000000\n"
			    "app;main (app.lua:1);serve (app.lua:9) 6000000\n";

static struct child *diff_with(struct stage *stage, const char *const *words)
{
	struct child *child;

	write_text(stage, "before.folded", before);
	write_text(stage, "after.folded", after);
	write_text(stage, "twice.folded", twice);
	child = stage__start(stage, words);
	child__wait(child, PATIENCE);
	return child;
}
#define diff(stage, ...)                                                                           \
	diff_with(stage, (const char *const[]){luaspy_program(), "diff", __VA_ARGS__, NULL})

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void says_what_it_assumes_of_noise(void **state)
{
	static const char assumed[] = "\nwith one recording on each side, 8.0% is an assumption: ";
	struct stage *stage = *state;
	struct child *child = diff(stage, "before.folded", "after.folded");
	const char *text = child__output(stage, child);
	json_t *document;

	assert_int_equal(child->status, 0);
	assert_has(text, assumed);
	assert_has(text, "\nno change beyond noise");
	assert_has(child__output(stage, diff(stage, "before.folded", "twice.folded")), "  slower ");
	child = diff(stage, "before.folded", "before.folded", "--", "after.folded");
	assert_null(strstr(child__output(stage, child), assumed));
	child = diff(stage, "before.folded", "after.folded", "--json");
	document = json_loads(child__output(stage, child), 0, NULL);
	assert_non_null(document);
	assert_int_equal(json_integer_value(json_object_get(document, "NoisePpm")), 80000);
	assert_int_equal(json_integer_value(json_object_get(document, "AssumesNoise")), 1);
	json_decref(document);
}

static void names_what_is_worse(void **state)
{
	struct stage *stage = *state;
	struct child *child = diff(stage, "before.folded", "twice.folded", "--fail-over=5%");

	assert_int_equal(child->status, 4);
	assert_has(child__errors(stage, child),
		   "luaspy: 'parse' at app.lua:3 takes 17.14% more of the CPU time than before, "
		   "beyond noise ('--fail-over' allows 5%)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(says_what_it_assumes_of_noise),
		staged(names_what_is_worse),
	};

	setenv("LC_ALL", "C", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
