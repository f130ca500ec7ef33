/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/symbol_name.h"

#ifdef HAS_DEMANGLER

static void assert_name(const char *symbol, const char *expected)
{
	char *name = symbol_name__demangle(symbol);

	if (expected) {
		assert_non_null(name);
		assert_string_equal(name, expected);
	} else {
		assert_null(name);
	}
	free(name);
}

static void is_what_the_author_of_a_program_in_cpp_wrote(void **state)
{
	(void)state;
	assert_name("_ZN3Mob7l_thinkEP9lua_State", "Mob::l_think");
	assert_name("_ZL11luaB_assertP9lua_State", "luaB_assert");
	assert_name("_ZN12_GLOBAL__N_14bindEP9lua_Statei",
		    "(anonymous namespace)::bind(lua_State*, int)");
	assert_name("_ZNK5boost6vectorIiE4sizeEv", "boost::vector<int>::size() const");
	assert_name("_ZZ4openP9lua_StateENUlS0_E_4_FUNES0_",
		    "open(lua_State*)::{lambda(lua_State*)#1}");
	assert_name("_ZZ4openP9lua_StateENKUlS0_E_clES0_",
		    "open(lua_State*)::{lambda(lua_State*)#1}::operator()(lua_State*) const");
}

static void has_nothing_that_compilers_add(void **state)
{
	(void)state;
	assert_name("_ZN3Mob7l_thinkEP9lua_State.constprop.0", "Mob::l_think");
	assert_name("_ZN3Mob7l_thinkEP9lua_State.isra.0.part.3", "Mob::l_think");
	assert_name("_ZN4mlua5state4call17h0123456789abcdefE", "mlua::state::call");
	assert_name("_ZN4mlua5state4call17hxyz3456789abcdefE",
		    "mlua::state::call::hxyz3456789abcdef");
}

static void leaves_other_names_alone(void **state)
{
	static char endless[8192];

	(void)state;
	assert_name("luaopen_lpeg", NULL);
	assert_name("", NULL);
	assert_name("_Z", NULL);
	assert_name("_ZN3Mob", NULL);
	assert_name("_Zx", NULL);
	memset(endless, 'P', sizeof(endless) - 1);
	memcpy(endless, "_Z1f", 4);
	assert_name(endless, NULL);
}

/* f(pair<int, int>, pair<the first, the first>, ...): each type has the one before it twice. */
static void a_name_may_not_be_endless(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fSt4pairIiiE";

	(void)state;
	for (int i = 0; i < 36; i++) {
		char more[64];

		snprintf(more, sizeof(more), "S_IS%c_S%c_E", digits[i], digits[i]);
		strcat(symbol, more);
		if (i == 0)
			assert_name(symbol, "f(std::pair<int, int>, std::pair<std::pair<int, int>, "
					    "std::pair<int, int> >)");
	}
	assert_name(symbol, NULL);
}

/* Found by trying random symbols: GCC 12's demangler does not return from these. */
static void expressions_are_not_tried(void **state)
{
	(void)state;
	assert_name("_Z1fIOAsrU", NULL);
	assert_name("_Z1fIDTsrfpC1vLclquSt4pairS2_UJStX", NULL);
	assert_name("_ZcvtlRAsrsZDpquEDpquDpZAStnTnDpZIRTn", NULL);
	assert_name("_Z3fooILi3EEvRAT__i", NULL);
	assert_name("_ZN3XMLL7DThing2EP9lua_State", "XML::DThing2");
	assert_name("_ZN3XMLC1EP9lua_State", "XML::XML");
	assert_name("_ZN3XML7DThing2EP9lua_State", "XML::DThing2");
	assert_name("_Z3sumRA3_Ki", "sum(int const (&) [3])");
}

#else

static void is_left_as_it_is(void **state)
{
	(void)state;
	assert_null(symbol_name__demangle("_ZN3Mob7l_thinkEP9lua_State"));
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAS_DEMANGLER
		cmocka_unit_test(is_what_the_author_of_a_program_in_cpp_wrote),
		cmocka_unit_test(has_nothing_that_compilers_add),
		cmocka_unit_test(leaves_other_names_alone),
		cmocka_unit_test(a_name_may_not_be_endless),
		cmocka_unit_test(expressions_are_not_tried),
#else
		cmocka_unit_test(is_left_as_it_is),
#endif
	};

	return cmocka_run_group_tests_name("symbol_name", tests, NULL, NULL);
}
