/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* A folder of its own with one file in it, a page long and mapped. */
struct mapped {
	char folder[32], path[128];
	void *address;
	struct stat status;
};

static void map_file(struct mapped *mapped, const char *name)
{
	int fd;

	strcpy(mapped->folder, "/tmp/process-test-XXXXXX");
	assert_non_null(mkdtemp(mapped->folder));
	assert_int_equal(chmod(mapped->folder, 0755), 0);
	snprintf(mapped->path, sizeof(mapped->path), "%s/%s", mapped->folder, name);
	fd = open(mapped->path, O_RDWR | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "second page", 11, 4096), 11);
	assert_int_equal(fstat(fd, &mapped->status), 0);
	mapped->address = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
	assert_true(mapped->address != MAP_FAILED);
	close(fd);
}

static void unmap_file(struct mapped *mapped)
{
	munmap(mapped->address, 4096);
	unlink(mapped->path);
	rmdir(mapped->folder);
}

static const struct process_mapping *find_mapping(const struct process_mappings *mappings,
						  const void *address)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->items[i].start == (uintptr_t)address)
			return &mappings->items[i];
	fail_msg("the mapping at %p is missing among %zu", address, mappings->count);
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

static void lists_files_with_what_stat_says_of_them(void **state)
{
	struct process_mappings mappings;
	const struct process_mapping *mapping;
	struct mapped mapped;
	uint64_t last = 0;
	bool executable = false;

	(void)state;
	map_file(&mapped, "new\nline and space");
	assert_int_equal(process__mappings(getpid(), &mappings), 0);
	mapping = find_mapping(&mappings, mapped.address);
	assert_string_equal(mapping->path, mapped.path);
	assert_int_equal(mapping->end, mapping->start + 4096);
	assert_int_equal(mapping->offset, 4096);
	assert_int_equal(mapping->inode, mapped.status.st_ino);
	assert_int_equal(mapping->device, mapped.status.st_dev);
	assert_false(mapping->executable);
	for (size_t i = 0; i < mappings.count; i++) {
		assert_true(mappings.items[i].start >= last);
		last = mappings.items[i].end;
		executable |= mappings.items[i].executable;
		assert_int_equal(mappings.items[i].path[0], '/');
	}
	assert_true(executable);
	process__mappings_free(&mappings);
	unmap_file(&mapped);
}

/* Its inode; 0: it cannot be opened. */
static uint64_t mapped_inode(pid_t pid, const struct process_mapping *mapping)
{
	int file = process__open_mapped_file(pid, mapping);
	struct stat status;

	if (file < 0)
		return 0;
	assert_int_equal(fstat(file, &status), 0);
	close(file);
	return status.st_ino;
}

static void opens_the_mapped_file_after_it_was_replaced(void **state)
{
	struct process_mappings mappings;
	const struct process_mapping *mapping;
	struct mapped mapped;
	int fd;

	(void)state;
	need_root();
	map_file(&mapped, "library");
	unlink(mapped.path);
	fd = open(mapped.path, O_RDWR | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(process__mappings(getpid(), &mappings), 0);
	mapping = find_mapping(&mappings, mapped.address);
	assert_string_equal(mapping->path, mapped.path);
	assert_int_equal(mapped_inode(getpid(), mapping), mapped.status.st_ino);
	process__mappings_free(&mappings);
	unmap_file(&mapped);
}

/* Runs in a child that is not root. 0: all is right. */
static int open_as_nobody(const struct mapped *mapped, const struct process_mapping *mapping)
{
	char map_files[64];

	if (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 1))
		return 1;
	snprintf(map_files, sizeof(map_files), "/proc/self/map_files/%llx-%llx",
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	if (open(map_files, O_PATH) >= 0)
		return 2;
	return mapped_inode(getpid(), mapping) == mapped->status.st_ino ? 0 : 3;
}

static void goes_through_the_root_of_the_process_without_capabilities(void **state)
{
	struct process_mappings mappings;
	struct mapped mapped;
	int status;
	pid_t child;

	(void)state;
	need_root();
	map_file(&mapped, "library");
	assert_int_equal(process__mappings(getpid(), &mappings), 0);
	child = fork();
	if (child == 0)
		_exit(open_as_nobody(&mapped, find_mapping(&mappings, mapped.address)));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	process__mappings_free(&mappings);
	unmap_file(&mapped);
}

/* Until it is killed. */
static pid_t start_in_chroot(const char *folder)
{
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(folder) == 0 && write(ready[1], "1", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void finds_a_file_that_a_chroot_hides_from_the_process(void **state)
{
	struct process_mapping mapping = {.start = 1, .end = 2};
	struct mapped mapped;
	pid_t child;

	(void)state;
	need_root();
	map_file(&mapped, "library");
	child = start_in_chroot(mapped.folder);
	mapping.path = mapped.path;
	mapping.inode = mapped.status.st_ino;
	assert_int_equal(mapped_inode(child, &mapping), mapped.status.st_ino);
	mapping.inode++;
	assert_int_equal(process__open_mapped_file(child, &mapping), -ENOENT);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unmap_file(&mapped);
}

/* Our files are none of a container's, whatever links it makes: we may read them, it may not. */
static void follows_no_link_out_of_the_root_of_the_process(void **state)
{
	char root[64], link[96], up[96];
	struct process_mapping mapping = {.start = 1, .end = 2, .inode = 1};
	struct mapped mapped;
	pid_t child;

	(void)state;
	need_root();
	map_file(&mapped, "library");
	snprintf(root, sizeof(root), "%s/root", mapped.folder);
	snprintf(link, sizeof(link), "%s/link", root);
	snprintf(up, sizeof(up), "%s/up", root);
	assert_int_equal(mkdir(root, 0755), 0);
	assert_int_equal(symlink(mapped.folder, link), 0);
	assert_int_equal(symlink("..", up), 0);
	child = start_in_chroot(root);
	mapping.path = "/link/library";
	assert_int_equal(process__open_mapped_file(child, &mapping), -ENOENT);
	mapping.path = "/up/library";
	assert_int_equal(process__open_mapped_file(child, &mapping), -ENOENT);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(link);
	unlink(up);
	rmdir(root);
	unmap_file(&mapped);
}

/* Makes and enters `depth` folders, or leaves and removes them. */
static void dig(const char *name, int depth)
{
	for (int i = 0; i < depth; i++) {
		assert_int_equal(mkdir(name, 0755), 0);
		assert_int_equal(chdir(name), 0);
	}
	for (int i = 0; i < -depth; i++) {
		assert_int_equal(chdir(".."), 0);
		assert_int_equal(rmdir(name), 0);
	}
}

static void reads_paths_longer_than_any_open_takes(void **state)
{
	char folder[] = "/tmp/process-test-XXXXXX", name[201], *home = getcwd(NULL, 0);
	struct process_mappings mappings;
	void *address;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	memset(name, 'x', 200);
	name[200] = '\0';
	assert_int_equal(chdir(folder), 0);
	dig(name, 25);
	fd = open("file", O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	address = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_int_equal(process__mappings(getpid(), &mappings), 0);
	munmap(address, 4096);
	unlink("file");
	dig(name, -25);
	assert_int_equal(chdir(home), 0);
	rmdir(folder);
	free(home);
	assert_int_equal(strlen(find_mapping(&mappings, address)->path),
			 strlen(folder) + 25 * 201 + strlen("/file"));
	process__mappings_free(&mappings);
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
		cmocka_unit_test(lists_files_with_what_stat_says_of_them),
		cmocka_unit_test(opens_the_mapped_file_after_it_was_replaced),
		cmocka_unit_test(goes_through_the_root_of_the_process_without_capabilities),
		cmocka_unit_test(finds_a_file_that_a_chroot_hides_from_the_process),
		cmocka_unit_test(follows_no_link_out_of_the_root_of_the_process),
		cmocka_unit_test(reads_paths_longer_than_any_open_takes),
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
