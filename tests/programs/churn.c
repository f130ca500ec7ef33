/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * churn COUNT AT_ONCE MS SEED PROGRAM SCRIPT: runs "PROGRAM SCRIPT ACTION MS" COUNT times, AT_ONCE
 * at a time, each with a random action and a random number of milliseconds (mean: MS). Actions are
 * exit, exec, fork, stop (it is stopped for a while, then continued) and die (of SIGKILL, at any
 * time). Finally it prints how many processes there were, including those that they left behind,
 * what CPU time the kernel charged them, how many were killed and what those were charged, and how
 * often each action was chosen: "1000 started, 1050 ended, 5000000 us; 200 killed, 4000 us; exit
 * 200 ...".
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define AT_ONCE_MAX 64

enum action { EXIT, EXEC, FORK, STOP, DIE, ACTIONS };

static const char *const names[] = {"exit", "exec", "fork", "stop", "die"};

static struct running {
	pid_t pid; /* 0: nothing runs here */
	enum action action;
	double signal_ms; /* 0: none is pending */
	int is_stopped;
} running[AT_ONCE_MAX];

static int ended, killed, asked[ACTIONS];
static uint64_t charged_us, killed_us;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int begin(struct running *place, char **program, double mean_ms)
{
	double ms = mean_ms * (0.5 + drand48());
	char number[16];
	char *words[] = {program[0], program[1], NULL, number, NULL};
	enum action action = (enum action)(drand48() * ACTIONS);
	extern char **environ;
	int error;

	snprintf(number, sizeof(number), "%.3f", ms);
	words[2] = (char *)names[action];
	error = posix_spawn(&place->pid, program[0], NULL, NULL, words, environ);
	if (error)
		return error;
	asked[action]++;
	place->action = action;
	place->is_stopped = 0;
	place->signal_ms = action < STOP ? 0 : now_ms() + 2 * ms * drand48();
	return 0;
}

/* Every process but a stopped one ends sooner or later on its own. */
static void send_signals(void)
{
	for (int i = 0; i < AT_ONCE_MAX; i++) {
		struct running *place = &running[i];

		if (!place->pid || !place->signal_ms || now_ms() < place->signal_ms)
			continue;
		place->signal_ms = 0;
		if (place->action == DIE) {
			kill(place->pid, SIGKILL);
		} else if (place->is_stopped) {
			kill(place->pid, SIGCONT);
		} else {
			kill(place->pid, SIGSTOP);
			place->is_stopped = 1;
			place->signal_ms = now_ms() + 20 * drand48();
		}
	}
}

/* Reaps a child. Returns whether there was one. */
static int reap(void)
{
	struct rusage usage;
	int status;
	pid_t pid = wait4(-1, &status, WNOHANG, &usage);
	uint64_t us;

	if (pid <= 0)
		return 0;
	us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
	     (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	ended++;
	charged_us += us;
	if (WIFSIGNALED(status)) {
		killed++;
		killed_us += us;
	}
	for (int i = 0; i < AT_ONCE_MAX; i++)
		if (running[i].pid == pid)
			running[i].pid = 0;
	return 1;
}

static bool has_children(void)
{
	siginfo_t info;

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || errno != ECHILD;
}

int main(int argc, char **argv)
{
	int count, at_once, begun = 0, error = 0;
	struct pollfd nothing = {.fd = -1};

	if (argc != 7 || (at_once = atoi(argv[2])) > AT_ONCE_MAX)
		return 2;
	count = atoi(argv[1]);
	srand48(atol(argv[4]));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* This includes those whose parents did not wait for them. */
	while (!error && (begun < count || has_children())) {
		while (reap())
			;
		for (int i = 0; i < at_once && begun < count && !error; i++) {
			if (running[i].pid)
				continue;
			error = begin(&running[i], argv + 5, atof(argv[3]));
			begun++;
		}
		send_signals();
		poll(&nothing, 1, 1);
	}
	printf("%d started, %d ended, %llu us; %d killed, %llu us;", begun, ended,
	       (unsigned long long)charged_us, killed, (unsigned long long)killed_us);
	for (int i = 0; i < ACTIONS; i++)
		printf(" %s %d", names[i], asked[i]);
	puts("");
	return error;
}
