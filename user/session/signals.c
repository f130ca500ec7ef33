/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "signals.h"

#include <fcntl.h>
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
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int signals__have_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

enum signals_demand signals__take(int fd, const struct launch *launch)
{
	static int interrupts;
	struct signalfd_siginfo signal;

	if (read(fd, &signal, sizeof(signal)) != sizeof(signal))
		return SIGNALS_NOTHING;
	if (signal.ssi_signo == SIGUSR1)
		return SIGNALS_SWITCH;
	if (!launch)
		return signal.ssi_signo == SIGHUP && signal.ssi_code != SI_KERNEL ? SIGNALS_HANGUP
										  : SIGNALS_END;
	if (signal.ssi_code == SI_KERNEL)
		return signal.ssi_signo == SIGINT && ++interrupts > 1 ? SIGNALS_END
								      : SIGNALS_NOTHING;
	launch__signal(launch, (int)signal.ssi_signo);
	return SIGNALS_NOTHING;
}
