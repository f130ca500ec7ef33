/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how luaspy reads names, states, threads, times and paths of processes. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/process.h"
#include "skip.h"

#define MS 1000000ull

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no such process. */
#define NO_PID 2000000000

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static void *burn(void *unused)
{
	uint64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID) + 50 * MS;

	while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return unused;
}

static void *wait_for_lock(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void reads_a_name_that_looks_like_the_end_of_it(void **state)
{
	char old[16], name[16] = "";

	(void)state;
	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, "a) Z\nb (c");
	assert_int_equal(process__name(getpid(), name), 0);
	assert_string_equal(name, "a) Z\nb (c");
	assert_int_equal(process__state(getpid()), 'R');
	prctl(PR_SET_NAME, "fifteen bytes..");
	assert_int_equal(process__name(getpid(), name), 0);
	assert_string_equal(name, "fifteen bytes..");
	prctl(PR_SET_NAME, "");
	assert_int_equal(process__name(getpid(), name), 0);
	assert_string_equal(name, "");
	prctl(PR_SET_NAME, old);
}

static void tells_a_zombie(void **state)
{
	pid_t child = fork();
	siginfo_t info;

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process__state(child), 'Z');
	waitpid(child, NULL, 0);
	assert_int_equal(process__state(child), 0);
}

static void says_that_a_process_is_gone(void **state)
{
	struct process_mappings mappings;
	uint64_t runtime_ns;
	char name[16];
	pid_t *tids;

	(void)state;
	assert_int_equal(process__name(NO_PID, name), -ESRCH);
	assert_int_equal(process__mappings(NO_PID, &mappings), -ESRCH);
	assert_int_equal(mappings.count, 0);
	process__mappings_free(&mappings);
	assert_int_equal(process__threads(NO_PID, &tids), -ESRCH);
	assert_null(tids);
	assert_int_equal(process__thread_runtime_ns(NO_PID, NO_PID, &runtime_ns), -ESRCH);
	assert_int_equal(process__runtime_ns(NO_PID, &runtime_ns), -ESRCH);
	assert_int_equal(process__runtime_ns(0, &runtime_ns), -ESRCH);
	assert_int_equal(process__state(NO_PID), 0);
}

static void lists_threads_in_order(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_t threads[40];
	pid_t *tids;
	ssize_t count;

	(void)state;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 40; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_lock, &lock), 0);
	count = process__threads(getpid(), &tids);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 40; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count, 41);
	assert_int_equal(tids[0], getpid());
	for (ssize_t i = 1; i < count; i++)
		assert_true(tids[i] > tids[i - 1]);
	free(tids);
}

static void reads_the_time_of_a_thread(void **state)
{
	uint64_t before, after, runtime_ns;

	(void)state;
	burn(NULL);
	/* The schedstat of a running thread advances in ticks of at most 10 ms. */
	before = read_clock(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(process__thread_runtime_ns(getpid(), getpid(), &runtime_ns), 0);
	after = read_clock(CLOCK_THREAD_CPUTIME_ID);
	assert_in_range(runtime_ns, before - 20 * MS, after);
}

/* As where the kernel has no schedstat. */
static void reads_the_time_of_a_thread_in_clock_ticks(void **state)
{
	uint64_t before, after, runtime_ns;

	(void)state;
	burn(NULL);
	before = read_clock(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(process__thread_ticks_ns(getpid(), getpid(), &runtime_ns), 0);
	after = read_clock(CLOCK_THREAD_CPUTIME_ID);
	assert_in_range(runtime_ns, before - 40 * MS, after);
	assert_int_equal(process__thread_ticks_ns(NO_PID, NO_PID, &runtime_ns), -ESRCH);
}

static void counts_threads_that_exited(void **state)
{
	uint64_t first, second, before, after;
	pthread_t thread;

	(void)state;
	assert_int_equal(process__runtime_ns(getpid(), &first), 0);
	assert_int_equal(pthread_create(&thread, NULL, burn, NULL), 0);
	pthread_join(thread, NULL);
	before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	assert_int_equal(process__runtime_ns(getpid(), &second), 0);
	after = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	assert_true(second - first >= 50 * MS);
	assert_in_range(second, before, after);
}

static void reads_the_time_of_another_process(void **state)
{
	uint64_t runtime_ns;
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		burn(NULL);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process__runtime_ns(child, &runtime_ns), 0);
	waitpid(child, NULL, 0);
	assert_in_range(runtime_ns, 50 * MS, 500 * MS);
}

/* Waits for a byte of the child, which goes on until it is killed. */
static void await_byte(int ready[2])
{
	char byte;

	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

/* A process that was forked begins later than its program, one that executed another with it. */
static void dates_the_program_back_to_its_first_process(void **state)
{
	uint64_t own_ns, birth_ns, program_ns;
	int ready[2];
	pid_t child;

	(void)state;
	usleep(50000); /* the kernel tells births in ticks of 10 ms */
	assert_int_equal(process__program_birth_ns(getpid(), &own_ns), 0);
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "1", 1) == 1)
			pause();
		_exit(1);
	}
	await_byte(ready);
	assert_int_equal(process__birth_ns(child, &birth_ns), 0);
	assert_int_equal(process__program_birth_ns(child, &program_ns), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(birth_ns >= own_ns + 20 * MS);
	assert_in_range(program_ns, own_ns - MS, own_ns + MS);

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		dup2(ready[1], STDOUT_FILENO);
		close(ready[0]);
		execlp("sh", "sh", "-c", "echo; exec sleep 60 >/dev/null", NULL);
		_exit(1);
	}
	await_byte(ready);
	assert_int_equal(process__birth_ns(child, &birth_ns), 0);
	assert_int_equal(process__program_birth_ns(child, &program_ns), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_in_range(program_ns, birth_ns - MS, birth_ns + MS);
}

static void tells_the_working_directory_from_the_root_of_the_process(void **state)
{
	char folder[32] = "/tmp/process-XXXXXX", inner[64], path[256];
	int ready[2];
	pid_t child;

	(void)state;
	need_root();
	assert_non_null(mkdtemp(folder));
	snprintf(inner, sizeof(inner), "%s/inner", folder);
	assert_int_equal(mkdir(inner, 0755), 0);
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(folder) == 0 && chdir("/inner") == 0 && write(ready[1], "1", 1) == 1)
			pause();
		_exit(1);
	}
	await_byte(ready);
	assert_int_equal(process__working_directory(child, path, sizeof(path)), 0);
	assert_string_equal(path, "/inner");
	assert_int_equal(process__working_directory(child, path, 6), -ENAMETOOLONG);
	rmdir(inner);
	assert_int_equal(process__working_directory(child, path, sizeof(path)), -ENOENT);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	rmdir(folder);
}

/* Runs `sleep` as `path`, until it is killed. */
static pid_t start_sleep(const char *path)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, "sleep", "60", (char *)NULL);
		_exit(1);
	}
	/* Until then, it is still a copy of the test. */
	for (char name[16] = ""; !strstr(path, name) || !*name; usleep(1000))
		if (process__name(child, name))
			fail_msg("cannot execute '%s'", path);
	return child;
}

static void tells_by_which_of_its_names_a_program_was_executed(void **state)
{
	char folder[32] = "/tmp/process-XXXXXX", link_path[64], path[256];
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(link_path, sizeof(link_path), "%s/named", folder);
	assert_int_equal(symlink("/bin/sleep", link_path), 0);
	child = start_sleep(link_path);
	assert_int_equal(process__executed_path(child, path, sizeof(path)), 0);
	assert_string_equal(path, link_path);
	assert_int_equal(process__executed_path(child, path, 6), -ENAMETOOLONG);
	/* Now it leads elsewhere. */
	unlink(link_path);
	assert_int_equal(symlink("/bin/true", link_path), 0);
	assert_int_equal(process__executed_path(child, path, sizeof(path)), -ENOENT);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(link_path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_name_that_looks_like_the_end_of_it),
		cmocka_unit_test(tells_a_zombie),
		cmocka_unit_test(says_that_a_process_is_gone),
		cmocka_unit_test(lists_threads_in_order),
		cmocka_unit_test(reads_the_time_of_a_thread),
		cmocka_unit_test(reads_the_time_of_a_thread_in_clock_ticks),
		cmocka_unit_test(counts_threads_that_exited),
		cmocka_unit_test(reads_the_time_of_another_process),
		cmocka_unit_test(dates_the_program_back_to_its_first_process),
		cmocka_unit_test(tells_the_working_directory_from_the_root_of_the_process),
		cmocka_unit_test(tells_by_which_of_its_names_a_program_was_executed),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
