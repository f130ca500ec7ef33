/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "profile/patterns.h"
#include "profile/plugin_presets.h"

static const struct ls_profile_function helper = {
	.source = "/srv/app/plugins/a.lua", .name = "helper", .line = 12};
static const struct ls_profile_function format = {.source = "[C]", .name = "string.format"};
static const struct ls_profile_function text = {.source = "[string \"return 1\"]", .line = 1};
static const struct ls_profile_function host = {.name = "(host)"};

static struct patterns of(const char *glob)
{
	struct patterns patterns = {};

	assert_int_equal(patterns__add(&patterns, glob), 0);
	return patterns;
}

static int fit(const char *glob, const struct ls_profile_function *function)
{
	struct patterns patterns = of(glob);

	return patterns__fit(&patterns, function);
}

static int fit_chunk(const char *glob, const struct ls_profile_function *function)
{
	struct patterns patterns = of(glob);

	return patterns__fit_chunk(&patterns, function);
}

static void a_star_takes_in_slashes(void **state)
{
	(void)state;
	assert_int_equal(fit_chunk("*/plugins/*", &helper), 1);
	assert_int_equal(fit_chunk("/srv/*", &helper), 1);
	assert_int_equal(fit_chunk("/srv/*.luac", &helper), 0);
	assert_int_equal(fit_chunk("plugins", &helper), 0);
	assert_int_equal(fit_chunk("helper", &helper), 0);
}

static void means_a_function_by_its_name_chunk_or_place(void **state)
{
	(void)state;
	assert_int_equal(fit("helper", &helper), 1);
	assert_int_equal(fit("help??", &helper), 1);
	assert_int_equal(fit("/srv/app/plugins/a.lua", &helper), 1);
	assert_int_equal(fit("*/a.lua:helper", &helper), 1);
	assert_int_equal(fit("*/a.lua:12", &helper), 1);
	assert_int_equal(fit("*/a.lua:1", &helper), 0);
	assert_int_equal(fit("*/a.lua:", &helper), 0);
	assert_int_equal(fit("other", &helper), 0);
}

static void brackets_of_lua_stand_for_themselves(void **state)
{
	(void)state;
	assert_int_equal(fit("[C]:string.format", &format), 1);
	assert_int_equal(fit("[C]:string.*", &format), 1);
	assert_int_equal(fit("[C]*", &format), 1);
	assert_int_equal(fit("[C]", &format), 1);
	assert_int_equal(fit("[C]", &helper), 0);
	assert_int_equal(fit("[C]:*", &helper), 0);
	assert_int_equal(fit("[C]:0", &format), 0);
	assert_int_equal(fit("string.[a-f]*", &format), 1);
	assert_int_equal(fit("[string \"return*", &text), 1);
	assert_int_equal(fit("[string \"return 1\"]", &text), 1);
	assert_int_equal(fit("[string \"return 1\"]:1", &text), 1);
}

static void pseudo_functions_fit_nothing(void **state)
{
	(void)state;
	assert_int_equal(fit("*", &host), 0);
	assert_int_equal(fit("(host)", &host), 0);
	assert_int_equal(fit_chunk("*", &host), 0);
}

static void one_of_several_is_enough(void **state)
{
	struct patterns patterns = of("nothing");

	(void)state;
	assert_int_equal(patterns__fit(&patterns, &helper), 0);
	assert_int_equal(patterns__add(&patterns, "helper"), 0);
	assert_int_equal(patterns__fit(&patterns, &helper), 1);
	patterns.count = 0;
	assert_int_equal(patterns__fit(&patterns, &helper), 0);
}

static void takes_names_of_any_bytes(void **state)
{
	const struct ls_profile_function odd = {.source = "a\xff\xfe.lua", .name = "\xc3"};

	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	assert_int_equal(fit("a*.lua", &odd), 1);
	assert_int_equal(fit("*.lub", &odd), 0);
	setlocale(LC_CTYPE, "C");
}

static void says_when_there_are_too_many(void **state)
{
	struct patterns patterns = {};

	(void)state;
	assert_int_equal(patterns__add(&patterns, ""), -EINVAL);
	for (int i = 0; i < PATTERNS_MAX; i++)
		assert_int_equal(patterns__add(&patterns, "x"), 0);
	assert_int_equal(patterns__add(&patterns, "x"), -E2BIG);
	assert_int_equal(plugin_presets__add(&patterns, "kong"), -E2BIG);
}

static void assert_plugin(const char *preset, const char *source, int expected)
{
	const struct ls_profile_function function = {.source = source};
	struct patterns patterns = {};

	assert_int_equal(plugin_presets__add(&patterns, preset), 0);
	if (patterns__fit_chunk(&patterns, &function) != expected)
		fail_msg("%s: '%s' is%s a plugin", preset, source, expected ? " not" : "");
}

/* Paths as the projects' documents and packages have them. */
static void presets_know_where_plugins_are(void **state)
{
	(void)state;
	assert_plugin("neovim", "/home/u/.local/share/nvim/site/pack/x/start/a/lua/a/init.lua", 1);
	assert_plugin("neovim", "/home/u/.local/share/nvim/site/pack/core/opt/a/plugin/a.lua", 1);
	assert_plugin("neovim", "/home/u/.local/share/nvim/lazy/telescope.nvim/lua/t/init.lua", 1);
	assert_plugin("neovim", "/home/u/.local/share/nvim/plugged/plenary.nvim/lua/p.lua", 1);
	assert_plugin("neovim", "/home/u/.config/nvim/lua/config/init.lua", 0);
	assert_plugin("neovim", "/usr/share/nvim/runtime/lua/vim/lsp.lua", 0);
	assert_plugin("kong", "/usr/local/share/lua/5.1/kong/plugins/cors/handler.lua", 1);
	assert_plugin("kong", "./kong/plugins/mine/access.lua", 1);
	assert_plugin("kong", "/usr/local/share/lua/5.1/kong/router/init.lua", 0);
	assert_plugin("apisix", "/usr/local/apisix/apisix/plugins/limit-req.lua", 1);
	assert_plugin("apisix", "/path/to/example/apisix/stream/plugins/3rd-party.lua", 1);
	assert_plugin("apisix", "/usr/local/apisix/apisix/core/config_etcd.lua", 0);
	assert_plugin("prosody", "/usr/lib/prosody/modules/mod_c2s.lua", 1);
	assert_plugin("prosody", "/usr/lib/prosody/modules/adhoc/adhoc.lib.lua", 1);
	assert_plugin("prosody", "/opt/prosody-modules/mod_x/x/mod_x.lua", 1);
	assert_plugin("prosody", "/usr/lib/prosody/core/modulemanager.lua", 0);
	assert_plugin("prosody", "/usr/lib/prosody/util/stanza.lua", 0);
	assert_plugin("kong,prosody", "/usr/lib/prosody/modules/mod_c2s.lua", 1);
	assert_plugin("prosody,kong", "/usr/lib/prosody/modules/mod_c2s.lua", 1);
}

static void refuses_presets_that_it_does_not_know(void **state)
{
	static const char *const wrong[] = {"",      "kon",    "kongs",    "kong,",
					    ",kong", "kong,x", "kong kong"};
	struct patterns patterns = {};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(plugin_presets__add(&patterns, wrong[i]), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_star_takes_in_slashes),
		cmocka_unit_test(means_a_function_by_its_name_chunk_or_place),
		cmocka_unit_test(brackets_of_lua_stand_for_themselves),
		cmocka_unit_test(pseudo_functions_fit_nothing),
		cmocka_unit_test(one_of_several_is_enough),
		cmocka_unit_test(takes_names_of_any_bytes),
		cmocka_unit_test(says_when_there_are_too_many),
		cmocka_unit_test(presets_know_where_plugins_are),
		cmocka_unit_test(refuses_presets_that_it_does_not_know),
	};

	return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}
