/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unit as installed by make or by the package, under a systemd of its own. */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cgroup.h"
#include "spying.h"

#define PATIENCE    60
#define SYSTEMD     1     /* among the stage's children; the first one installs luaspy */
#define DYNAMIC_MIN 61184 /* systemd's range for DynamicUser= (uid-range.h) */
#define DYNAMIC_MAX 65519

/* Prints the CPU time that it took in all. */
static const char worker[] = "local function work() for i = 1, 10000 do end end\n"
			     "while os.clock() < 0.5 do work() end\n"
			     "print(string.format('%s %.6f', arg[1], os.clock()))\n";

/* Runs a shell inside; it may fail. */
static struct child *start_inside(struct stage *stage, const char *script)
{
	char *text;

	assert_true(asprintf(&text,
			     "exec nsenter --target=\"$(pgrep -P %d)\" --all --root --wd env -i "
			     "PATH=/usr/local/bin:/usr/sbin:/usr/bin sh -c '%s'",
			     stage->children[SYSTEMD].pid, script) > 0);
	stage__own(stage, text, free);
	return start(stage, "sh", "-c", text);
}

/* Returns the output of a shell inside. */
static const char *told_inside(struct stage *stage, const char *script)
{
	struct child *child = start_inside(stage, script);

	if (child__wait(child, PATIENCE))
		fail_msg("%s\n%s%s", script, child__output(stage, child),
			 child__errors(stage, child));
	return child__output(stage, child);
}

/* Waits until a shell's condition holds inside. */
static void await_inside(struct stage *stage, const char *condition)
{
	char *script;

	assert_true(asprintf(&script,
			     "tries=0; until %s; do tries=$((tries + 1)); [ $tries -lt 300 ] || "
			     "{ journalctl --no-pager; exit 1; }; sleep 0.1; done",
			     condition) > 0);
	stage__own(stage, script, free);
	told_inside(stage, script);
}

/* Runs a shell in the folder of the sources; make writes into the stage's folder. */
static void prepare(struct stage *stage, const char *commands)
{
	struct child *child;
	char sources[PATH_MAX], *script;

	assert_non_null(getcwd(sources, sizeof(sources)));
	assert_true(asprintf(&script,
			     "set -e; stage=$PWD; cd '%s'\n"
			     "make() { env -u MAKEFLAGS make O=$stage/output \"$@\"; }\n%s",
			     sources, commands) > 0);
	stage__own(stage, script, free);
	child = start(stage, "sh", "-c", script);
	if (child__wait(child, PATIENCE))
		fail_msg("%s", child__errors(stage, child));
}

static void install(struct stage *stage)
{
	prepare(stage, "make install PREFIX=/usr/local DESTDIR=$stage/destination\n"
		       "mv $stage/destination/usr/local $stage/installed");
}

/* Builds the package as /luaspy.deb, with a /usr into which it can be installed. */
static void make_package(struct stage *stage)
{
	prepare(stage, "mkdir -p $stage/installed $stage/upper $stage/root; make deb\n"
		       "mv $stage/output/deb/*.deb $stage/root/luaspy.deb");
}

/* The reason why no systemd can run here; NULL if one can. */
static const char *boot(struct stage *stage)
{
	char name[32], script[PATH_MAX + 32];
	const char *cgroup;
	struct child *systemd;
	siginfo_t end = {};

	snprintf(name, sizeof(name), "luaspy-test-%d", getpid());
	cgroup = cgroup__make(stage, name);
	if (!cgroup)
		return "no cgroup of the unified hierarchy can be made here";
	assert_non_null(getcwd(script, PATH_MAX));
	strcat(script, "/tests/e2e/boot_systemd.sh");
	systemd = start(stage, script, stage->folder, cgroup);
	assert_ptr_equal(systemd, &stage->children[SYSTEMD]);
	for (int tries = 0; tries < 10; tries++) {
		struct child *asked = start_inside(
			stage,
			"tries=0; until systemctl --quiet is-active basic.target; do\n"
			"tries=$((tries + 1)); [ $tries -lt 50 ] || exit 1; sleep 0.1; done");

		if (!child__wait(asked, PATIENCE))
			return NULL;
		assert_int_equal(
			waitid(P_PID, (id_t)systemd->pid, &end, WEXITED | WNOHANG | WNOWAIT), 0);
		if (end.si_pid)
			break;
	}
	print_message("%s", child__errors(stage, systemd));
	return "no systemd can be started in namespaces here";
}

#define need_service(stage) need_booted(stage, install)

#define need_packaged_service(stage)                                                               \
	do {                                                                                       \
		need_program("dpkg-shlibdeps", "dpkg-dev");                                        \
		need_booted(stage, make_package);                                                  \
	} while (0)

#define need_booted(stage, make)                                                                   \
	do {                                                                                       \
		const char *why;                                                                   \
                                                                                                   \
		need_lua();                                                                        \
		need_program("/lib/systemd/systemd", "systemd");                                   \
		need_program("nsenter", "util-linux");                                             \
		need_program("pgrep", "procps");                                                   \
		make(stage);                                                                       \
		why = boot(stage);                                                                 \
		if (why)                                                                           \
			skip_because(why);                                                         \
	} while (0)

/* A file of the service, by its place in the order of time. */
static const char *profile_path(struct stage *stage, size_t index, size_t count)
{
	char *path = NULL;
	glob_t found;

	assert_int_equal(glob(in_folder(stage, "root/var/log/luaspy/lua-*.json"), 0, NULL, &found),
			 0);
	assert_int_equal(found.gl_pathc, count);
	path = stage__own(stage, strdup(found.gl_pathv[index]), free);
	globfree(&found);
	return path;
}

/* The file has all CPU time that the process `name` measured itself. */
static void assert_profiled(const struct scriptprofile *profile, const char *said, const char *name)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	const char *at = strstr(said, name);
	double truth, found = 0;
	size_t i;

	assert_non_null(at);
	truth = 1e6 * strtod(at + strlen(name), NULL);
	json_array_foreach(categories, i, category)
	{
		const char *title = json_string_value(json_object_get(category, "Name"));

		if (!strncmp(title, name, strlen(name)) && title[strlen(name)] == ' ')
			found += (double)profile->node_total_us[json_integer_value(
				json_object_get(category, "NodeId"))];
	}
	print_message("%s: %.1f of %.1f ms\n", name, found / 1e3, truth / 1e3);
	assert_true(found >= 0.99 * truth && found <= 1.02 * truth);
}

/*
 * Targets of root, of another user in a closed folder, and in a mount namespace, in its own /home.
 */
static const char at_work[] =
	"cd /tmp; cp $(readlink -f $(command -v lua5.4)) tolua; cp /etc/worker.lua .\n"
	"mkdir closed; cp tolua closed/byother; chown -R 65534 closed; chmod 700 closed\n"
	"./tolua worker.lua tolua &\n"
	"setpriv --reuid=65534 --regid=65534 --clear-groups closed/byother worker.lua byother &\n"
	"unshare --mount sh -c \"mount -t tmpfs none /home; cp tolua /home/inhome\n"
	"exec /home/inhome worker.lua inhome\" &\n"
	"wait";

static void profiles_all_users_and_writes_on_reload(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	const char *said, *path;
	struct stat status;

	need_service(stage);
	write_text(stage, "root/etc/worker.lua", worker);
	told_inside(stage, "systemctl start luaspy");
	await_inside(stage, "journalctl -u luaspy | grep -q \"processes run an interpreter\"");
	said = told_inside(stage, at_work);
	told_inside(stage, "systemctl reload luaspy");
	await_inside(stage, "journalctl -u luaspy | grep -q \"luaspy: wrote\"");
	path = profile_path(stage, 0, 1);
	profile = spying__read(stage, path);
	assert_profiled(profile, said, "tolua");
	assert_profiled(profile, said, "byother");
	assert_profiled(profile, said, "inhome");
	assert_true((double)scriptprofile__total_us(profile, NULL, "work", 1) >
		    0.8 * (double)profile->all_us);
	if (scriptprofile__recorded(profile, "MissedProcesses"))
		fail_msg("processes were missed: %s", told_inside(stage, "journalctl -u luaspy"));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_in_range(status.st_uid, DYNAMIC_MIN, DYNAMIC_MAX);

	said = told_inside(stage, "cd /tmp; mv tolua later; ./later worker.lua later");
	told_inside(stage, "systemctl stop luaspy");
	assert_profiled(spying__read(stage, profile_path(stage, 1, 2)), said, "later");
	assert_string_equal(told_inside(stage, "systemctl show -p Result -p ExecMainStatus luaspy"),
			    "Result=success\nExecMainStatus=0\n");
}

/* The kernel's view of the process, not what the unit asks for. */
static void has_no_further_rights(void **state)
{
	const char *said;

	need_service(*state);
	told_inside(*state, "systemctl start luaspy");
	await_inside(*state, "journalctl -u luaspy | grep -q \"processes run an interpreter\"");
	said = told_inside(
		*state, "pid=$(systemctl show -P MainPID luaspy)\n"
			"grep -E \"^(Uid|Cap(Prm|Bnd)|NoNewPrivs|Seccomp):\" /proc/$pid/status | "
			"cut -f 1,2\n"
			"inside=\"nsenter --target $pid --mount --net\"\n"
			"for path in /usr/local/x /var/lib/x /etc/x /home/x; do\n"
			"	if $inside touch $path; then echo wrote $path; fi 2>/dev/null\n"
			"done\n"
			"touch /tmp/theirs; $inside ls -A /tmp; $inside ls /sys/class/net");
	print_message("%s", said);
	assert_in_range(atoi(strstr(said, "Uid:") + 5), DYNAMIC_MIN, DYNAMIC_MAX);
	assert_non_null(strstr(said, "CapPrm:\t000001c000080004\n"
				     "CapBnd:\t000001c000080004\nNoNewPrivs:\t1\nSeccomp:\t2\n"
				     "lo\n"));
}

/*
 * Everything that luaspy has said so far. Not by _COMM: journald looks that up in /proc when it
 * reads a message, and a luaspy that only complained may have exited by then. The identifier is the
 * name that systemd starts it under.
 */
#define JOURNAL                                                                                    \
	"journalctl --sync && "                                                                    \
	"journalctl -u luaspy -o cat --no-pager SYSLOG_IDENTIFIER=luaspy "

static void writes_a_line_per_file_to_the_journal(void **state)
{
	const char *said;
	int lines;

	need_service(*state);
	write_text(*state, "root/etc/worker.lua", worker);
	write_text(
		*state, "root/etc/default/luaspy",
		"LUASPY_OPTIONS=\"--interval 300ms --keep 2 --max-overhead none --name ^brief\"\n");
	told_inside(*state, "systemctl start luaspy");
	await_inside(*state, "journalctl -u luaspy | grep -q \"processes run an interpreter\"");
	told_inside(*state, "cp $(readlink -f $(command -v lua5.4)) /tmp/brief; "
			    "for i in 1 2 3; do /tmp/brief /etc/worker.lua x; done");
	await_inside(*state, "[ $(journalctl -u luaspy | grep -c \"luaspy: wrote\") -gt 5 ]");
	told_inside(*state, "systemctl stop luaspy; [ $(ls /var/log/luaspy | wc -l) = 2 ]");
	said = told_inside(
		*state, JOURNAL
		"| "
		"grep -v \"^luaspy: wrote /var/log/luaspy/lua-[-_0-9]*.json: [0-9.]* .*s of CPU time\" | grep -v \"warning: .* lacks\"");
	print_message("%s", said);
	assert_non_null(
		strstr(said, "processes run an interpreter; others are added when they do\n"));
	assert_non_null(strstr(said, "): Lua 5.4."));
	assert_non_null(strstr(said, "): layout 5.4"));
	for (lines = 0; (said = strchr(said, '\n')); said++)
		lines++;
	assert_int_equal(lines, 3);
}

/* A service that found nothing to profile has not failed; one with wrong options is not retried. */
static void ends_as_an_operator_expects(void **state)
{
	const char *said;

	need_service(*state);
	told_inside(*state, "systemctl start luaspy");
	await_inside(*state, "journalctl -u luaspy | grep -q \"processes run an interpreter\"");
	told_inside(*state, "systemctl stop luaspy");
	assert_string_equal(told_inside(*state, "systemctl show -P Result luaspy"), "success\n");
	write_text(*state, "root/etc/default/luaspy", "LUASPY_OPTIONS=--no-such-option\n");
	told_inside(*state, "systemctl start luaspy");
	await_inside(*state, "systemctl is-failed luaspy");
	assert_string_equal(told_inside(*state, "systemctl show -P Result -P NRestarts luaspy"),
			    "exit-code\n0\n");
	/* The journal has errors, and only errors, at its level of errors. */
	said = told_inside(*state, JOURNAL "-p err");
	assert_ptr_equal(strstr(said, "luaspy: no script in the profile"), said);
	assert_ptr_equal(strstr(said, "luaspy: unknown option"), strchr(said, '\n') + 1);
	assert_null(strstr(said, "processes run an interpreter"));
}

static void passes_systemd_analyze_verify(void **state)
{
	need_service(*state);
	assert_string_equal(told_inside(*state, "systemd-analyze verify --man=no luaspy.service "
						"2>&1"),
			    "");
	print_message("%s", told_inside(*state, "systemd-analyze security --offline=true "
						"--no-pager --threshold=20 "
						"/usr/local/lib/systemd/system/luaspy.service | "
						"tail -n 1"));
	assert_string_equal(told_inside(*state, "systemctl is-active luaspy || "
						"systemctl is-enabled luaspy || :"),
			    "inactive\ndisabled\n");
}

#define INSTALL "dpkg --force-depends -i /luaspy.deb >/dev/null 2>&1 || exit 1\n"

/* The service was enabled by an administrator; installing alone does not enable it. */
static void start_packaged(struct stage *stage)
{
	assert_string_equal(told_inside(stage, INSTALL "systemctl is-active luaspy || "
						       "systemctl is-enabled luaspy || :"),
			    "inactive\ndisabled\n");
	told_inside(stage, "systemctl --quiet enable --now luaspy");
	await_inside(stage, "journalctl -u luaspy | grep -q \"processes run an interpreter\"");
}

static void removing_the_package_stops_and_disables_the_service(void **state)
{
	need_packaged_service(*state);
	start_packaged(*state);
	told_inside(*state, "pgrep luaspy && ls /etc/systemd/system/*.wants/luaspy.service");
	told_inside(*state, "dpkg -r luaspy >/dev/null 2>&1");
	assert_string_equal(told_inside(*state,
					"pgrep luaspy; systemctl is-active luaspy; "
					"systemctl is-enabled luaspy 2>/dev/null; "
					"find /etc/systemd /usr/bin/luaspy -name luaspy\\*; "
					"systemctl list-units --all --plain --no-legend "
					"luaspy.service; ls /var/log/luaspy | "
					"tr -d 0-9"),
			    "inactive\nlua--.json\n");
	told_inside(*state, "dpkg -P luaspy >/dev/null 2>&1");
	assert_string_equal(told_inside(*state, "find /var/log -name luaspy"), "");
}

static void an_upgrade_restarts_only_a_running_service(void **state)
{
	need_packaged_service(*state);
	start_packaged(*state);
	told_inside(*state, "show=\"systemctl show -P MainPID luaspy\"; before=$($show)\n" INSTALL
			    "[ $before != 0 ] && [ $($show) != 0 ] && [ $($show) != $before ] && "
			    "systemctl --quiet is-enabled luaspy");
	told_inside(*state, "systemctl stop luaspy\n" INSTALL
			    "[ $(systemctl show -P MainPID luaspy) = 0 ] && "
			    "systemctl --quiet is-enabled luaspy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(profiles_all_users_and_writes_on_reload),
		staged(has_no_further_rights),
		staged(writes_a_line_per_file_to_the_journal),
		staged(ends_as_an_operator_expects),
		staged(passes_systemd_analyze_verify),
		staged(removing_the_package_stops_and_disables_the_service),
		staged(an_upgrade_restarts_only_a_running_service),
	};

	return cmocka_run_group_tests_name("service", tests, NULL, NULL);
}
