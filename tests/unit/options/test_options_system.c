/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "parsing.h"

static void takes_all_processes(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "--system");
	assert_true(options.record.targets.system);
	assert_null(options.record.targets.criteria.name);
	assert_int_equal(options.record.targets.pid_count, 0);
	assert_int_equal(options.record.category, CATEGORY_PROCESS);
	assert_runs(&options, "record", "--system", "--category=chunk");
	assert_int_equal(options.record.category, CATEGORY_CHUNK);
}

/* Whether the filter takes this process under that name. */
static bool is_taken(const struct process_criteria *criteria, const char *name)
{
	struct process_filter *filter;
	bool result;

	assert_int_equal(process_filter__new(criteria, &filter), 0);
	result = process_filter__takes(filter, getpid(), name);
	process_filter__free(filter);
	return result;
}

static void takes_some_of_them(void **state)
{
	struct options options;
	char user[16];

	(void)state;
	snprintf(user, sizeof(user), "%u", getuid());
	assert_runs(&options, "record", "--system", "--name=^(lua|redis)", "--user", user);
	assert_true(is_taken(&options.record.targets.criteria, "redis-server"));
	assert_false(is_taken(&options.record.targets.criteria, "my-redis"));
	assert_runs(&options, "record", "--system", "--user=4294967294");
	assert_false(is_taken(&options.record.targets.criteria, "lua"));
	assert_runs(&options, "record", "--system", "--cgroup=/");
	assert_true(is_taken(&options.record.targets.criteria, "lua"));
	assert_runs(&options, "record", "--system", "--cgroup=/no/such/group");
	assert_false(is_taken(&options.record.targets.criteria, "lua"));
}

static void refuses_what_names_nothing(void **state)
{
	(void)state;
	assert_wrong("cannot understand value '(' of option '--name' (accepted: an extended "
		     "regular expression, such as '^(lua|redis)')",
		     "record", "--system", "--name", "(");
	assert_wrong("cannot understand value 'no such user' of option '--user' (accepted: the "
		     "name of a user, or a number)",
		     "record", "--system", "--user=no such user");
	assert_wrong("cannot understand value 'nginx' of option '--cgroup' (accepted: a path such "
		     "as '/system.slice/nginx.service')",
		     "record", "--system", "--cgroup=nginx");
}

static void stands_alone(void **state)
{
	(void)state;
	assert_wrong(
		"'--system' excludes '--pid' (it records all processes that run an interpreter)",
		"record", "--system", "-p1");
	assert_wrong(
		"'--system' excludes '--children' (it records all processes that run an interpreter)",
		"record", "--system", "--children");
	assert_wrong(
		"'--system' excludes 'COMMAND' (it records all processes that run an interpreter)",
		"record", "--system", "--", "true");
	assert_wrong("'--pid' excludes '--name', '--user' and '--cgroup' (they choose among all "
		     "processes)",
		     "record", "-p1", "--name=lua");
	assert_wrong("'--user' needs '--system', which takes all such processes, or '--name', "
		     "which finds one",
		     "record", "--user=0");
	assert_wrong("'--cgroup' needs '--system', which takes all such processes, or '--name', "
		     "which finds one",
		     "record", "--cgroup=/x");
}

static void says_which_were_asked_for(void **state)
{
	struct process_criteria criteria = {.name = "^lua", .cgroup = "/x"};
	char text[64], narrow[12];

	(void)state;
	assert_string_equal(process_criteria__describe(&criteria, text, sizeof(text)),
			    "'--name ^lua' and '--cgroup /x'");
	assert_string_equal(process_criteria__describe(&criteria, narrow, sizeof(narrow)),
			    "'--name ^lu");
	criteria = (struct process_criteria){.user = "0"};
	assert_string_equal(process_criteria__describe(&criteria, text, sizeof(text)),
			    "'--user 0'");
	criteria = (struct process_criteria){};
	assert_string_equal(process_criteria__describe(&criteria, text, sizeof(text)), "");
}

static void merges_processes(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "--system");
	assert_int_equal(options.record.targets.merge_by, GROUPING_NONE);
	assert_runs(&options, "record", "--system", "--merge-by=name");
	assert_int_equal(options.record.targets.merge_by, GROUPING_NAME);
	assert_runs(&options, "record", "-p1,2", "--merge-by", "cgroup");
	assert_int_equal(options.record.targets.merge_by, GROUPING_CGROUP);
	assert_runs(&options, "record", "--children", "--merge-by=user", "--category=process", "--",
		    "true");
	assert_int_equal(options.record.targets.merge_by, GROUPING_USER);
}

static void merges_only_what_is_several(void **state)
{
	(void)state;
	assert_wrong("cannot understand value 'pid' of option '--merge-by' (accepted: name, cgroup "
		     "or user)",
		     "record", "--system", "--merge-by=pid");
	assert_wrong("'--merge-by' needs several processes ('--system', '--children' or a list of "
		     "'--pid')",
		     "record", "-p1", "--merge-by=name");
	assert_wrong("'--merge-by' excludes every '--category' but process (it combines processes)",
		     "record", "--system", "--merge-by=name", "--category=chunk");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_all_processes),         cmocka_unit_test(takes_some_of_them),
		cmocka_unit_test(refuses_what_names_nothing),  cmocka_unit_test(stands_alone),
		cmocka_unit_test(says_which_were_asked_for),   cmocka_unit_test(merges_processes),
		cmocka_unit_test(merges_only_what_is_several),
	};

	return cmocka_run_group_tests_name("options of --system", tests, NULL, NULL);
}
