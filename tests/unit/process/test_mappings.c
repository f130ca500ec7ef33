/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that are mapped into a process, as it lists them and as they are opened. */
#include <errno.h>
#include <fcntl.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "process/process.h"
#include "skip.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_files_with_what_stat_says_of_them),
		cmocka_unit_test(opens_the_mapped_file_after_it_was_replaced),
		cmocka_unit_test(goes_through_the_root_of_the_process_without_capabilities),
		cmocka_unit_test(finds_a_file_that_a_chroot_hides_from_the_process),
		cmocka_unit_test(follows_no_link_out_of_the_root_of_the_process),
		cmocka_unit_test(reads_paths_longer_than_any_open_takes),
	};

	return cmocka_run_group_tests_name("mappings", tests, NULL, NULL);
}
