/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odd_names LUA FOLDER: runs copies of that Lua whose names would move a cursor, end a line, turn
 * the direction of text or pass for an option; their command lines of 64 KiB do the same. Prints
 * "begun". The copies work, at low priority, as long as this program lives.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

#define COMMAND_LINE (64 << 10)

static const char *const names[] = {
	"a\x1b]0;owned\x07\x1b[2J",
	"b\nluaspy: wrote x",
	"\xe2\x80\xaenosj.x",
	"\xe2\x80\x8f!",
	"-rf",
	"--help",
	"c) R 1 (d",
	"e\xff\xc2\x9b<b>",
};

static void run(const char *lua, const char *folder, const char *name)
{
	static const char work[] = "while true do for i = 1, 1e5 do end end --[==[";
	static char script[COMMAND_LINE];
	pid_t parent = getpid();
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	files__copy(lua, path);
	for (size_t i = 0; i < sizeof(script) - 5; i++)
		script[i] = i < strlen(work) ? work[i] : name[i % strlen(name)];
	strcpy(script + sizeof(script) - 5, "]==]");
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	errno = 0;
	if (getppid() != parent)
		_exit(1);
	if (nice(19) < 0 && errno)
		give_up("nice");
	execl(path, name, "-e", script, NULL);
	give_up(path);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		run(argv[1], argv[2], names[i]);
	say("begun");
	pause();
}
