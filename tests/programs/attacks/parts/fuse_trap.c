/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fuse_trap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burning.h"

#define FILE_NODE   2
#define REQUEST_MAX (1 << 16)
#define READ_MAX    (1 << 17)

/* The server's state; it is a process with one thread. */
static struct {
	const struct fuse_trap *trap;
	int device, content;
	uint64_t size;
} server;

static void answer(const struct fuse_in_header *request, int error, const void *bytes, size_t size)
{
	static char reply[sizeof(struct fuse_out_header) + READ_MAX];
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size),
		.error = error,
		.unique = request->unique,
	};

	memcpy(reply, &header, sizeof(header));
	if (size)
		memcpy(reply + sizeof(header), bytes, size);
	/* ENOENT: the requester is gone. */
	if (write(server.device, reply, header.len) < 0 && errno != ENOENT)
		give_up("cannot answer");
}

static struct fuse_attr attributes_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == FILE_NODE ? server.size : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
	};
}

static void answer_read(const struct fuse_in_header *request)
{
	static char bytes[READ_MAX];
	const struct fuse_read_in *read = (const void *)(request + 1);
	size_t size = read->size < READ_MAX ? read->size : READ_MAX;
	ssize_t count = 0;

	if (server.content >= 0)
		count = pread(server.content, bytes, size, (off_t)read->offset);
	else if (read->offset < server.size)
		count = (ssize_t)size;
	answer(request, 0, bytes, count > 0 ? (size_t)count : 0);
}

/* The kernel caches nothing of this: it asks every time. */
static void answer_lookup(const struct fuse_in_header *request)
{
	struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes_of(FILE_NODE)};

	if (strcmp((const char *)(request + 1), "file"))
		answer(request, -ENOENT, NULL, 0);
	else
		answer(request, 0, &entry, sizeof(entry));
}

/* FUSE_ASYNC_READ stays off, so that a reader waits until the answer is there, even if killed. */
static void answer_init(const struct fuse_in_header *request)
{
	const struct fuse_init_in *asked = (const void *)(request + 1);
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = asked->minor < FUSE_KERNEL_MINOR_VERSION ? asked->minor
								  : FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = 4096,
		.max_write = 4096,
	};

	answer(request, 0, &init, sizeof(init));
}

static bool is_trapped(uint32_t opcode)
{
	if (!*server.trap->is_shut)
		return false;
	switch (server.trap->kind) {
	case FUSE_TRAP_READ:
		return opcode == FUSE_READ;
	case FUSE_TRAP_OPEN:
		return opcode == FUSE_OPEN;
	case FUSE_TRAP_GETATTR:
		return opcode == FUSE_GETATTR;
	default:
		/*
		 * Requests from a process that ends need an answer, or the attacker could not die,
		 * either.
		 */
		return opcode != FUSE_FLUSH && opcode != FUSE_RELEASE;
	}
}

static void serve(const struct fuse_in_header *request)
{
	struct fuse_attr_out attributes = {.attr = attributes_of(request->nodeid)};
	struct fuse_open_out opened = {};

	if (is_trapped(request->opcode))
		return;
	switch (request->opcode) {
	case FUSE_INIT:
		answer_init(request);
		break;
	case FUSE_LOOKUP:
		answer_lookup(request);
		break;
	case FUSE_GETATTR:
		answer(request, 0, &attributes, sizeof(attributes));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(request, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer_read(request);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_ACCESS:
		answer(request, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(request, -ENOSYS, NULL, 0);
	}
}

static void run_server(pid_t parent)
{
	static char request[REQUEST_MAX];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		exit(1);
	for (;;) {
		ssize_t count = read(server.device, request, sizeof(request));

		if (count < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		if (count < (ssize_t)sizeof(struct fuse_in_header))
			exit(0);
		serve((const struct fuse_in_header *)request);
	}
}

static void write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		give_up(path);
	close(file);
}

/* Without root, only the owner of a user namespace may mount, and only in there. */
static void enter_namespaces(void)
{
	uid_t user = geteuid();
	gid_t group = getegid();
	char map[64];

	if (!user) {
		if (unshare(CLONE_NEWNS))
			give_up("unshare");
	} else {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
			perror("cannot have namespaces of my own");
			exit(BURNING_CANNOT);
		}
		write_text("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", user, user);
		write_text("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "%u %u 1", group, group);
		write_text("/proc/self/gid_map", map);
	}
	/* The mount then goes away with the last process in the namespace. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_up("cannot make '/' private");
}

static void mount_it(const struct fuse_trap *trap)
{
	uid_t user = geteuid() ? geteuid() : trap->user;
	gid_t group = geteuid() ? getegid() : trap->user;
	char options[128];

	server.device = open(trap->device, O_RDWR | O_CLOEXEC);
	if (server.device < 0) {
		perror(trap->device);
		exit(BURNING_CANNOT);
	}
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", server.device, user,
		 group);
	if (mount("trap", trap->folder, "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror("cannot mount FUSE");
		exit(BURNING_CANNOT);
	}
}

enum fuse_trap_kind fuse_trap__kind(const char *name)
{
	static const char *const names[] = {"read", "open", "getattr", "all"};

	for (int i = 0; i < 4; i++)
		if (!strcmp(name, names[i]))
			return (enum fuse_trap_kind)i;
	fprintf(stderr, "no kind of trap is called '%s'\n", name);
	exit(2);
}

void fuse_trap__start(struct fuse_trap *trap)
{
	struct stat status;
	pid_t parent = getpid();

	trap->is_shut = mmap(NULL, sizeof(*trap->is_shut), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (trap->is_shut == MAP_FAILED)
		give_up("mmap");
	server.trap = trap;
	server.content = trap->content ? open(trap->content, O_RDONLY | O_CLOEXEC) : -1;
	server.size = FUSE_TRAP_SIZE;
	if (trap->content) {
		if (server.content < 0 || fstat(server.content, &status))
			give_up(trap->content);
		server.size = (uint64_t)status.st_size;
	}
	enter_namespaces();
	mount_it(trap);
	become_user(trap->user);
	if (!fork())
		run_server(parent);
	close(server.device);
}

int fuse_trap__open(const struct fuse_trap *trap)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/file", trap->folder);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		give_up(path);
	return file;
}

void fuse_trap__shut(const struct fuse_trap *trap)
{
	*trap->is_shut = 1;
}
