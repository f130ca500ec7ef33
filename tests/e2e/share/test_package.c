/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Debian package: built, checked by lintian, installed into a root of its own, run, and
 * removed.
 */
#include <dirent.h>
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

#include "spying.h"

#define PATIENCE 120

#define need_to_package()                                                                          \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("dpkg-shlibdeps", "dpkg-dev");                                        \
	} while (0)

/*
 * The output of a shell script that runs in the folder of the sources; $stage and $luaspy are set.
 */
static const char *told_by(struct stage *stage, const char *script)
{
	struct child *child;
	char sources[PATH_MAX], *text;

	assert_non_null(getcwd(sources, sizeof(sources)));
	assert_true(
		asprintf(&text,
			 "set -e; cd '%s'; stage='%s'; luaspy='%s'; deb=$stage/deb/luaspy_*.deb\n"
			 "export DEBFULLNAME='A. Tester' DEBEMAIL=tester@debian.org\n"
			 "export SOURCE_DATE_EPOCH=1700000000 GIT_CONFIG_GLOBAL=/dev/null\n%s",
			 sources, stage->folder, luaspy_program(), script) > 0);
	stage__own(stage, text, free);
	child = start(stage, "bash", "-c", text);
	if (child__wait(child, PATIENCE))
		fail_msg("%s\n%s", child__output(stage, child), child__errors(stage, child));
	return child__output(stage, child);
}

static void make_package(struct stage *stage)
{
	told_by(stage, "env -u MAKEFLAGS make deb O=$stage");
}

static void passes_lintian(void **state)
{
	need_to_package();
	need_program("lintian", "lintian");
	make_package(*state);
	assert_string_equal(told_by(*state, "lintian --allow-root --fail-on none $deb"), "");
}

static void depends_on_its_libraries(void **state)
{
	const char *said;

	need_to_package();
	make_package(*state);
	said = told_by(*state, "dpkg-deb --field $deb Depends Maintainer");
	assert_non_null(strstr(said, "libbpf"));
	assert_non_null(strstr(said, "libelf"));
	assert_non_null(strstr(said, "libncursesw6"));
	assert_non_null(strstr(said, "libc6 (>= "));
	assert_non_null(strstr(said, "Maintainer: A. Tester <tester@debian.org>\n"));
}

/*
 * Its dependencies are found in arm64's own libraries; its description is that of this
 * architecture's package.
 */
static void is_the_same_package_for_arm64(void **state)
{
	const char *said;

	need_to_package();
	need_program("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu");
	need_program("lintian", "lintian");
	make_package(*state);
	told_by(*state, "dpkg-deb -R $deb $stage/own; mv $deb $stage\n"
			"env -u MAKEFLAGS -u CC make -j$(nproc) deb ARCH=arm64 >/dev/null\n"
			"mkdir $stage/arm64; mv .output/arm64/deb/luaspy_*_arm64.deb $stage/deb\n"
			"dpkg-deb -R $deb $stage/other");
	assert_string_equal(told_by(*state, "lintian --allow-root --fail-on none $deb"), "");
	assert_string_equal(
		told_by(*state, "diff -rq $stage/own $stage/other | sed \"s|$stage/||g\""),
		"Files own/DEBIAN/control and other/DEBIAN/control differ\n"
		"Files own/DEBIAN/md5sums and other/DEBIAN/md5sums differ\n"
		"Files own/usr/bin/luaspy and other/usr/bin/luaspy differ\n");
	said = told_by(*state, "dpkg-deb --field $deb Architecture Depends\n"
			       "file $stage/other/usr/bin/luaspy");
	assert_non_null(strstr(said, "Architecture: arm64\n"));
	assert_non_null(strstr(said, "libc6 (>= "));
	assert_non_null(strstr(said, "libbpf"));
	assert_non_null(strstr(said, "ARM aarch64"));
}

/* One program always gives the same package, wherever and whenever it is built. */
static void is_reproducible(void **state)
{
	need_to_package();
	make_package(*state);
	assert_string_equal(told_by(*state, "mv $deb $stage/first; sleep 1.1\n"
					    "sh user/share/debian_package.sh $luaspy $stage/again "
					    ">/dev/null; cmp $stage/first $stage/again/*.deb"),
			    "");
}

/* Installs into a root of its own that has the system's libraries. */
static const char install[] =
	"root=$stage/root; mkdir -p $root/var/lib/dpkg/info $root/var/lib/dpkg/updates "
	"$root/var/log; : >$root/var/lib/dpkg/status\n"
	"dpkg --root=$root --force-depends --force-script-chrootless --install $deb >/dev/null 2>&1\n";

static void installs_runs_and_is_removed(void **state)
{
	struct child *target, *spy;
	const char *said;
	char script[1024], pid[16];

	need_to_package();
	need_program("lua5.4", "lua5.4");
	make_package(*state);
	snprintf(script, sizeof(script), "%s%s", install,
		 "$root/usr/bin/luaspy --version\n"
		 "for page in $(sh user/share/manual.sh --list $luaspy); do\n"
		 "zcat $root/usr/share/man/man1/$page.1.gz | grep -q 'SH NAME'; done\n"
		 "zcat $root/usr/share/man/man7/luaspy-recipes.7.gz | grep -q 'SH NAME'\n"
		 "grep -q '^ExecStart=/usr/bin/luaspy record --system ' "
		 "$root/lib/systemd/system/luaspy.service\n"
		 "! find $root/etc | grep systemd\n"
		 "bash -n $root/usr/share/bash-completion/completions/luaspy\n");
	said = told_by(*state, script);
	assert_non_null(strstr(said, "luaspy 0."));
	target = start(*state, "lua5.4", "-e", "while true do math.sin(1) end");
	snprintf(pid, sizeof(pid), "%d", target->pid);
	spy = start(*state, in_folder(*state, "root/usr/bin/luaspy"), "record", "-p", pid,
		    "--until-samples", "100", "-o", "profile.json");
	if (child__wait(spy, PATIENCE))
		fail_msg("%s", child__errors(*state, spy));
	assert_true(scriptprofile__samples(spying__read(*state, in_folder(*state, "profile.json")),
					   "complete") > 50);
	assert_string_equal(
		told_by(*state,
			"dpkg --root=$stage/root --force-script-chrootless --purge luaspy >/dev/null "
			"2>&1; find $stage/root/usr $stage/root/lib -type f 2>/dev/null || :"),
		"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(passes_lintian),
		staged(depends_on_its_libraries),
		staged(is_the_same_package_for_arm64),
		staged(is_reproducible),
		staged(installs_runs_and_is_removed),
	};

	return cmocka_run_group_tests_name("package", tests, NULL, NULL);
}
