/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sleepers PERCENT COUNT LUA: starts COUNT threads that sleep, prints "honest" and waits for a
 * line. Then it maps the file LUA as code, so that a profiler of the whole machine looks at all
 * threads at once, prints "trapped" and uses that share of a processor.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

#define STACK_BYTES 16384

static void *sleep_for_ever(void *unused)
{
	while (pause())
		;
	return unused;
}

static void start_sleepers(int count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, sleep_for_ever, NULL))
			give_up("pthread_create");
}

int main(int argc, char **argv)
{
	unsigned long size;
	char line[16];

	if (argc < 4)
		return 2;
	start_sleepers(atoi(argv[2]));
	say("honest");
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	files__map(argv[3], &size);
	say("trapped");
	burn(atoi(argv[1]), 0);
}
