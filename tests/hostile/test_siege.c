/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All attacks side by side, for $SIEGE_SECONDS (40; `make siege`: 600), beside one honest process:
 * they cost a session of the host nothing but their own profiles.
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

#define SECONDS       40
#define SECONDS_LEAST 20
#define INTERVAL      10
#define HONEST_SHARE  0.1 /* of a processor; others leave it as much, however busy they are */
#define KNOWN_SECONDS 1.0
#define PATIENCE      60

static double duration(void)
{
	const char *given = getenv("SIEGE_SECONDS");
	double seconds = given ? atof(given) : SECONDS;

	return seconds < SECONDS_LEAST ? SECONDS_LEAST : seconds;
}

static void withstands_all_at_once(void **state)
{
	struct siege *siege = *state;
	double end;

	need_lua();
	need_program("setpriv", "util-linux");
	siege->is_crowded = true;
	siege->percent = 1;
	siege__record(siege, "10s");
	siege__begin_work(siege, HONEST_SHARE * duration());
	end = now_seconds() + duration();
	for (int i = 0; i < attack_count; i++)
		attacks[i].launch(siege);
	sleep_seconds(KNOWN_SECONDS);
	attacks__strike(siege);
	print_message("%d attackers\n", siege->attacker_count);
	if (now_seconds() < end)
		sleep_seconds(end - now_seconds());
	siege__await_work(siege, PATIENCE + duration());
	siege__finish(siege, INTERVAL);
}

static const struct attack all_of_them = {
	.name = "withstands_all_at_once", .spends_grant = true, .holds_worker = true};

int main(void)
{
	const struct CMUnitTest tests[] = {
		{all_of_them.name, withstands_all_at_once, siege__open, siege__close,
		 (void *)&all_of_them},
	};

	return cmocka_run_group_tests_name("siege", tests, NULL, NULL);
}
