/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The container image: read by other programs, and run as the DaemonSet runs it, with its root,
 * command and capabilities, in namespaces that the test makes.
 */
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/privileges.h"
#include "spying.h"

#define PATIENCE  120
#define ARGUMENTS 16

#define DAEMONSET "user/share/kubernetes/daemonset.yaml"

#define need_image()                                                                               \
	do {                                                                                       \
		need_lua();                                                                        \
		need_program("skopeo", "skopeo");                                                  \
	} while (0)

/*
 * The output of a shell script that runs in the folder of the sources. $stage and $static are set;
 * `image` makes an image of the static luaspy at its first argument for the other arguments,
 * architectures.
 */
static const char *told_by(struct stage *stage, const char *script)
{
	struct child *child;
	char sources[PATH_MAX], *text;

	assert_non_null(getcwd(sources, sizeof(sources)));
	assert_true(asprintf(&text,
			     "set -euo pipefail; cd '%s'; stage='%s'; static=$(realpath '%s')\n"
			     "export SOURCE_DATE_EPOCH=1700000000 TMPDIR=$stage\n"
			     "image() { user/share/image.sh $stage/$1 0.1.0 abc123 ${@:2}; }\n%s",
			     sources, stage->folder, built_program("../../static/luaspy"),
			     script) > 0);
	stage__own(stage, text, free);
	child = start(stage, "bash", "-c", text);
	if (child__wait(child, PATIENCE))
		fail_msg("%s\n%s", child__output(stage, child), child__errors(stage, child));
	return child__output(stage, child);
}

static void is_read_by_skopeo(void **state)
{
	const char *said;

	need_image();
	said = told_by(*state, "image i.tar x86=$static\n"
			       "skopeo inspect --config --raw oci-archive:$stage/i.tar\n"
			       "skopeo inspect --format '{{.Created.Unix}} {{len .Layers}}' "
			       "oci-archive:$stage/i.tar");
	print_message("%s", said);
	assert_non_null(strstr(said, "\"architecture\":\"amd64\",\"os\":\"linux\""));
	assert_non_null(strstr(said, "\"Entrypoint\":[\"/usr/bin/luaspy\"]"));
	assert_non_null(strstr(said, "\"org.opencontainers.image.title\":\"luaspy\""));
	assert_non_null(strstr(said, "\"org.opencontainers.image.version\":\"0.1.0\""));
	assert_non_null(strstr(said, "\"org.opencontainers.image.revision\":\"abc123\""));
	assert_non_null(strstr(said, "1700000000 1\n"));
}

static void is_loaded_by_podman(void **state)
{
	need_image();
	need_program("podman", "podman");
	assert_non_null(strstr(
		told_by(*state, "image i.tar x86=$static\n"
				"podman=\"podman --storage-driver=vfs --root=$stage/podman "
				"--runroot=$stage/run\"\n"
				"$podman load -q -i $stage/i.tar; $podman images --noheading "
				"--format '{{.Repository}}:{{.Tag}}'"),
		"localhost/luaspy:0.1.0\n"));
}

/* One name serves both: a client pulls the image for its architecture. */
static void has_both_architectures(void **state)
{
	need_image();
	assert_string_equal(
		told_by(*state,
			"cp $static $stage/other; echo >>$stage/other\n"
			"image i.tar x86=$static arm64=$stage/other\n"
			"for each in amd64 arm64; do\n"
			"	skopeo copy -q --override-arch $each oci-archive:$stage/i.tar "
			"dir:$stage/$each\n"
			"	layer=$(cd $stage/$each && file -b * | grep -c 'gzip')\n"
			"	skopeo inspect --format \"{{.Architecture}} $layer\" dir:$stage/$each\n"
			"	for file in $stage/$each/*; do\n"
			"		tar -xzO -f $file ./usr/bin/luaspy 2>/dev/null || :\n"
			"	done >$stage/$each.luaspy\n"
			"done\n"
			"cmp $static $stage/amd64.luaspy; cmp $stage/other $stage/arm64.luaspy"),
		"amd64 1\narm64 1\n");
}

static void is_reproducible(void **state)
{
	need_image();
	told_by(*state, "image first x86=$static; sleep 1.1; umask 077\n"
			"cp $static $stage/again; image second x86=$stage/again\n"
			"cmp $stage/first $stage/second");
}

/* The names below a key of the manifest, one per line. */
static const char *listed_below(struct stage *stage, const char *key)
{
	char script[256];

	snprintf(
		script, sizeof(script),
		"awk '/^ *%s:/ { on = 1; next } on && /^ *- / { print $2; next } { on = 0 }' " DAEMONSET,
		key);
	return told_by(stage, script);
}

/* The DaemonSet grants exactly the capabilities that `luaspy check` lists. */
static uint64_t capabilities_of_daemonset(struct stage *stage)
{
	const char *listed = listed_below(stage, "add");
	uint64_t mask = 0;
	size_t count = 0;

	for (const char *at = listed; (at = strchr(at, '\n')); at++)
		count++;
	assert_int_equal(count, PRIVILEGE_COUNT);
	for (size_t i = 0; i < PRIVILEGE_COUNT; i++) {
		char line[64];

		snprintf(line, sizeof(line), "%s\n", privileges[i].name + strlen("CAP_"));
		if (!strstr(listed, line))
			fail_msg("no '%s' in:\n%s", privileges[i].name, listed);
		mask |= UINT64_C(1) << privileges[i].capability;
	}
	return mask;
}

/* Unpacks the image's root with another program and adds the folders that a runtime adds. */
static void unpack(struct stage *stage)
{
	told_by(stage, "image i.tar x86=$static\n"
		       "skopeo copy -q oci-archive:$stage/i.tar oci:$stage/layout:luaspy\n"
		       "umoci unpack --image $stage/layout:luaspy $stage/bundle >/dev/null\n"
		       "[ \"$(find $stage/bundle/rootfs -type f)\" = "
		       "$stage/bundle/rootfs/usr/bin/luaspy ]\n"
		       "mkdir $stage/bundle/rootfs/{proc,sys,profiles}");
}

/* Runs the entry point with the DaemonSet's arguments and more. */
static struct child *start_daemon(struct stage *stage, uint64_t capabilities, const char *more)
{
	const char *words[ARGUMENTS + 8] = {built_program("contain"), "-r", "-c"};
	char mask[20], *arguments = stage__own(stage, strdup(listed_below(stage, "args")), free);
	int count = 3;

	snprintf(mask, sizeof(mask), "%llx", (unsigned long long)capabilities);
	words[count++] = mask;
	words[count++] = in_folder(stage, "bundle/rootfs");
	words[count++] = "/usr/bin/luaspy";
	for (char *word = strtok(arguments, "\n"); word && count < ARGUMENTS;
	     word = strtok(NULL, "\n"))
		words[count++] = word;
	words[count] = more;
	return stage__start(stage, words);
}

static struct scriptprofile *the_only_file(struct stage *stage)
{
	struct scriptprofile *profile;
	glob_t found;

	assert_int_equal(
		glob(in_folder(stage, "bundle/rootfs/profiles/lua-*.json"), 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	profile = spying__read(stage, found.gl_pathv[0]);
	globfree(&found);
	return profile;
}

/* The target is a process of another user, on this machine and outside of the container. */
static void profiles_the_host_as_the_daemonset_runs_it(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	struct scriptprofile *profile;

	need_image();
	need_program("umoci", "umoci");
	need_program("setpriv", "util-linux");
	unpack(stage);
	write_text(stage, "own.lua",
		   "local function work() for i = 1, 1e4 do end end\n"
		   "while true do work() end\n");
	target = start(
		stage, "sh", "-c",
		"cp \"$(readlink -f \"$(command -v lua5.4)\")\" image-target && chmod 711 . && "
		"exec setpriv --reuid=65534 --regid=65534 --clear-groups ./image-target - "
		"<own.lua");
	child__let_work(target, 0.1);
	spy = start_daemon(stage, capabilities_of_daemonset(stage), "--name=^image-target$");
	child__await_errors(stage, spy, "processes run an interpreter");
	child__let_work(target, 0.5);
	kill(spy->pid, SIGTERM);
	if (child__wait(spy, PATIENCE))
		fail_msg("%s", child__errors(stage, spy));
	assert_null(strstr(child__errors(stage, spy), "missing:"));
	profile = the_only_file(stage);
	assert_true((double)scriptprofile__total_us(profile, NULL, "work", 1) >
		    0.8 * (double)profile->all_us);
	assert_true(profile->all_us > 300000);
}

/* Without any one of its capabilities, luaspy in the same container reports it missing. */
static void needs_each_of_its_capabilities(void **state)
{
	uint64_t all;

	need_image();
	need_program("umoci", "umoci");
	unpack(*state);
	all = capabilities_of_daemonset(*state);
	for (size_t i = 0; i < PRIVILEGE_COUNT; i++) {
		char mask[20], line[64];
		struct child *spy;

		snprintf(mask, sizeof(mask), "%llx",
			 (unsigned long long)(all & ~(UINT64_C(1) << privileges[i].capability)));
		spy = start(*state, built_program("contain"), "-r", "-c", mask,
			    in_folder(*state, "bundle/rootfs"), "/usr/bin/luaspy", "check");
		child__wait(spy, PATIENCE);
		snprintf(line, sizeof(line), "%s  %s ", i < 2 ? "FAIL" : "note",
			 privileges[i].name);
		if (!strstr(child__output(*state, spy), line))
			fail_msg("no '%s' in:\n%s", line, child__output(*state, spy));
	}
}

/* The systemd unit has a memory limit, too. */
static void the_daemonset_fits_the_schemas_of_kubernetes(void **state)
{
	static const char *const versions[] = {"1.30", "1.37"};
	char sources[PATH_MAX];

	need_program("python3", "python3");
	assert_non_null(getcwd(sources, sizeof(sources)));
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct child *judge =
			start(*state, "env", "-C", sources, "tests/e2e/kubernetes_schemas.sh",
			      versions[i], DAEMONSET);
		int status = child__wait(judge, PATIENCE);

		if (status == 3) {
			print_message("%s", child__errors(*state, judge));
			lacks_package("python3-pip");
		}
		if (status)
			fail_msg("%s%s", child__output(*state, judge),
				 child__errors(*state, judge));
	}
	told_by(*state,
		"! grep -q 'privileged: true' " DAEMONSET "\n"
		"grep -q 'memory: 256Mi' " DAEMONSET "\n"
		"grep -q 'MemoryMax=256M' user/share/luaspy.service.in\n"
		"grep -q \"image: luaspy:$(sed -n 's/^VERSION := //p' Makefile)$\" " DAEMONSET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(is_read_by_skopeo),
		staged(is_loaded_by_podman),
		staged(has_both_architectures),
		staged(is_reproducible),
		staged(profiles_the_host_as_the_daemonset_runs_it),
		staged(needs_each_of_its_capabilities),
		staged(the_daemonset_fits_the_schemas_of_kubernetes),
	};

	return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
