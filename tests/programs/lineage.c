/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lineage: says "ready" and starts a thread. At each line of input the youngest thread has one born
 * and ends; at the third, the one that is born, "youngest", keeps busy for good. Each says how many
 * are to come, "2 ahead".
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* `ahead` counts down to 0, one for each that is to be born. */
static void *live(void *place)
{
	int *ahead = place;
	pthread_t child;

	printf("%d ahead\n", *ahead);
	fflush(stdout);
	if (!*ahead) {
		prctl(PR_SET_NAME, "youngest");
		for (;;)
			;
	}
	for (int c; (c = getchar()) != '\n';)
		if (c == EOF)
			return NULL;
	pthread_create(&child, NULL, live, ahead + 1);
	return NULL;
}

int main(void)
{
	static int ahead[] = {3, 2, 1, 0};
	pthread_t first;

	puts("ready");
	fflush(stdout);
	pthread_create(&first, NULL, live, ahead);
	for (;;)
		pause();
}
