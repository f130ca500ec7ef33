/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lineage: prints "ready" and starts a thread. At each line of input the youngest thread starts
 * another one and ends; the third of these, "youngest", keeps busy forever. Each thread prints how
 * many are still to come: "2 ahead".
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* `ahead` counts down to 0, one for each thread that is still to come. */
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
