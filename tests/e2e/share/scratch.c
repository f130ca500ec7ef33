/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"

#define PATIENCE  60
#define WORDS_MAX 24
#define LOADER    "/lib/ld-musl-x86_64.so.1"

static const char work[] = "function work() local x = 0 for i = 1, 1e6 do x = x + i end end\n"
			   "local seconds = ...\n"
			   "local stop = os.clock() + (seconds or 1e9)\n"
			   "while os.clock() < stop do work() end\n";

static void copy(struct stage *stage, const char *from, const char *to)
{
	char path[PATH_MAX];
	size_t size;
	void *content = stage__own(stage, read_file(from, &size), free);

	snprintf(path, sizeof(path), "%s/root%s", stage->folder, to);
	write_file(path, content, size);
	assert_return_code(chmod(path, 0755), errno);
}

void scratch__make(struct stage *stage)
{
	static const char *const folders[] = {"", "/bin", "/lib", "/etc", "/proc", "/sys", "/tmp"};
	static const char *const applets[] = {"sh", "id", "sleep"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/root%s", stage->folder, folders[i]);
		assert_return_code(mkdir(path, 0755), errno);
	}
	copy(stage, SCRATCH_BUSYBOX, "/bin/busybox");
	copy(stage, built_program("host-musl"), "/bin/lua");
	copy(stage, SCRATCH_LUASPY, "/bin/luaspy");
	if (!access(LOADER, R_OK))
		copy(stage, LOADER, LOADER);
	for (size_t i = 0; i < sizeof(applets) / sizeof(applets[0]); i++) {
		snprintf(path, sizeof(path), "%s/root/bin/%s", stage->folder, applets[i]);
		assert_return_code(symlink("busybox", path), errno);
	}
	write_text(stage, "root/work.lua", work);
}

struct child *scratch__start(struct stage *stage, const char *const *words)
{
	const char *all[WORDS_MAX] = {built_program("contain"), in_folder(stage, "root")};
	int count = 2;

	while (*words && count < WORDS_MAX - 1)
		all[count++] = *words++;
	return stage__start(stage, all);
}

const char *scratch__told(struct stage *stage, int status, const char *script)
{
	struct child *child = start_in_scratch(stage, "/bin/sh", "-c", script);

	if (child__wait(child, PATIENCE) != status)
		fail_msg("%s\nexit status %d: %s%s", script, child->status,
			 child__output(stage, child), child__errors(stage, child));
	return child__output(stage, child);
}

struct child *scratch__start_target(struct stage *stage)
{
	struct child *target = start_in_scratch(stage, "/bin/lua", "/work.lua");

	child__let_work(target, 0.05);
	return target;
}

void scratch__assert_profile(struct stage *stage, const char *path)
{
	struct scriptprofile *profile = spying__read(stage, path);

	assert_true(scriptprofile__samples(profile, "complete") > 100);
	assert_true((double)scriptprofile__self_us(profile, "/work.lua", "work", 1) >=
		    0.95 * (double)profile->all_us);
}
