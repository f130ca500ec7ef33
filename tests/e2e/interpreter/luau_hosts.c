/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "luau_hosts.h"

const char *const luau_releases[LUAU_RELEASE_COUNT] = {"516-gcc", "561-gcc",    "577-gcc",
						       "635-gcc", "722-gcc",    "727-longjmp",
						       "736-gcc", "736-vector4"};

const char *luau_host__program(const char *build)
{
	char program[128];

	snprintf(program, sizeof(program), "../../hosts/luau_%s", build);
	return built_program(program);
}

struct child *luau_host__start(struct stage *stage, const char *build, const char *name,
			       const char *script)
{
	struct child *target;

	need_host(luau_host__program(build));
	write_text(stage, name, script);
	target = start(stage, luau_host__program(build), name);
	child__let_work(target, 0.2);
	return target;
}

struct scriptprofile *luau_host__record(struct stage *stage, const char *build, const char *script,
					const char *until)
{
	struct child *target = luau_host__start(stage, build, "app.luau", script);
	struct scriptprofile *profile = record_shares(stage, target->pid, until, "-F", "4000");

	child__kill(target);
	return profile;
}

const char *luau_host__layout_of(const struct scriptprofile *profile)
{
	return json_string_value(
		json_object_get(json_object_get(profile->document, "Recorder"), "Layout"));
}
