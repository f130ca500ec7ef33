/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "desktop/desktop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/resource_limits.h"

#define OPENER        "xdg-open"
#define PATIENCE_MS   1000
#define NO_OPENER     127 /* exit statuses, as of shells */
#define CANNOT_BECOME 126

extern char **environ;

int desktop__find(struct desktop *desktop)
{
	*desktop = (struct desktop){};
	desktop->is_for_another = invoker__find(&desktop->invoker);
	if (!desktop->is_for_another)
		return 0;
	desktop->environment = invoker__environment(&desktop->invoker);
	return desktop->environment ? 0 : -ENOMEM;
}

void desktop__close(struct desktop *desktop)
{
	invoker__free_environment(desktop->environment);
	desktop->environment = NULL;
}

const char *desktop__variable(const struct desktop *desktop, const char *name)
{
	char **entry = desktop->environment ? desktop->environment : environ;
	size_t length = strlen(name);

	for (; *entry; entry++)
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			return (*entry)[length + 1] ? *entry + length + 1 : NULL;
	return NULL;
}

bool desktop__has_screen(const struct desktop *desktop)
{
	return desktop__variable(desktop, "DISPLAY") ||
	       desktop__variable(desktop, "WAYLAND_DISPLAY");
}

/* Runs in the child: away from luaspy's terminal, which a browser would write to. */
static _Noreturn void be_opener(const struct desktop *desktop, const char *path)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
		if (nothing < 0 || dup2(nothing, file) < 0)
			_exit(CANNOT_BECOME);
	if (desktop->is_for_another && invoker__become(&desktop->invoker))
		_exit(CANNOT_BECOME);
	if (desktop->environment)
		environ = desktop->environment;
	resource_limits__restore();
	execlp(OPENER, OPENER, path, (char *)NULL);
	_exit(NO_OPENER);
}

/* xdg-open ends at once, or with the browser. */
static int await(pid_t pid)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int status = 0;

	if (end.fd < 0)
		return 0;
	poll(&end, 1, PATIENCE_MS);
	close(end.fd);
	if (waitpid(pid, &status, WNOHANG) != pid || !status)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == NO_OPENER ? -ENOENT : -EIO;
}

int desktop__show(const struct desktop *desktop, const char *path)
{
	pid_t pid = fork();

	if (!pid)
		be_opener(desktop, path);
	return pid < 0 ? -errno : await(pid);
}
