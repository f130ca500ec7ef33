/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

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

bool signals__have_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* timeout(1) sends two signals, one right after the other. */
#define GRACE_NS 1000000000ULL

static uint64_t ended_ns;

static void end_process(int signal_number)
{
	if (clock_ns(CLOCK_MONOTONIC) - ended_ns < GRACE_NS)
		return;
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

void signals__let_end(void)
{
	struct sigaction action = {.sa_handler = end_process, .sa_flags = SA_RESTART};
	sigset_t term;

	ended_ns = clock_ns(CLOCK_MONOTONIC);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigaction(SIGTERM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
}

enum signals_demand signals__take(int fd, const struct launch *launch)
{
	static int interrupts;
	struct signalfd_siginfo signal;

	if (read(fd, &signal, sizeof(signal)) != sizeof(signal))
		return SIGNALS_NOTHING;
	if (signal.ssi_signo == SIGUSR1)
		return SIGNALS_SWITCH;
	if (!launch || launch__is_apart(launch))
		return signal.ssi_signo == SIGHUP && signal.ssi_code != SI_KERNEL ? SIGNALS_HANGUP
										  : SIGNALS_END;
	if (signal.ssi_code == SI_KERNEL)
		return signal.ssi_signo == SIGINT && ++interrupts > 1 ? SIGNALS_END
								      : SIGNALS_NOTHING;
	launch__signal(launch, (int)signal.ssi_signo);
	return SIGNALS_NOTHING;
}
