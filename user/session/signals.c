/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int signals__catch(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int signals__take(int fd, const struct launch *launch)
{
	static int interrupts;
	struct signalfd_siginfo signal;

	if (read(fd, &signal, sizeof(signal)) != sizeof(signal))
		return 0;
	if (!launch)
		return 1;
	if (signal.ssi_code == SI_KERNEL)
		return signal.ssi_signo == SIGINT && ++interrupts > 1;
	launch__signal(launch, (int)signal.ssi_signo);
	return 0;
}
