/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One attack at a time: on a session of the host, one of the attacker, and a dump. An argument
 * selects attacks: test_attacks '*gigabyte*'.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attacks.h"

#define WORK_SECONDS  1.5
#define PATIENCE      30
#define KNOWN_SECONDS 0.6 /* until luaspy has decided what the attacker is */
#define ENDS_SECONDS  3
#define TESTS_MOST    64

/* A luaspy that gives up must say what it could not do. */
static void assert_explains(struct siege *siege, const struct child *spy)
{
	const char *errors = child__errors(siege->stage, spy);

	if (spy->status && !strstr(errors, "cannot ") && !strstr(errors, "no script in "))
		fail_msg("exit status %d without a reason: %s", spy->status, errors);
}

static void withstands(void **state)
{
	struct siege *siege = *state;
	struct child *one, *killed, *dump;
	char pid[16];

	need_lua();
	need_program("setpriv", "util-linux");
	siege__start_elder(siege);
	siege->attack->launch(siege);
	killed = start_record(siege->stage, siege->target->pid, "-d", "60", "-o", "killed.json");
	siege__record(siege, "1s");
	one = start_record(siege->stage, siege->target->pid, "-d", "1", "-o", "one.json");
	siege__begin_work(siege, WORK_SECONDS);
	sleep_seconds(KNOWN_SECONDS);
	attacks__strike(siege);
	snprintf(pid, sizeof(pid), "%d", siege->target->pid);
	dump = start(siege->stage, luaspy_program(), "dump", "-p", pid);
	siege__await_work(siege, PATIENCE);
	siege__assert_killable(siege, killed);
	siege__assert_ends(siege, dump, "dump", ENDS_SECONDS);
	siege__assert_ends(siege, one, "record -p -d 1", ENDS_SECONDS);
	assert_explains(siege, dump);
	assert_explains(siege, one);
	siege__finish(siege, 1);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[TESTS_MOST];

	for (int i = 0; i < attack_count; i++)
		tests[i] = (struct CMUnitTest){attacks[i].name, withstands, siege__open,
					       siege__close, (void *)&attacks[i]};
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests("attacks", tests, (size_t)attack_count, NULL, NULL);
}
