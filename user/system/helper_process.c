/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/helper_process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "system/descriptors.h"

void helper_process__ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

void helper_process__close_files(int *kept, size_t count, int replaced)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < replaced; fd++)
		dup2(null, fd);
	descriptors__close_others(kept, count);
}
