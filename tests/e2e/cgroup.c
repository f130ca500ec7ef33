/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cgroup.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)where;
	if (type == FTW_DP)
		rmdir(path);
	return 0;
}

/*
 * Removes the cgroup and those below it. A cgroup is busy until the kernel has removed its last
 * process, which may be after the process has ended.
 */
static void remove_folder(void *path)
{
	for (int tries = 0; !access(path, F_OK) && tries < 100; tries++) {
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		if (!access(path, F_OK))
			sleep_seconds(0.05);
	}
	free(path);
}

const char *cgroup__make(struct stage *stage, const char *name)
{
	static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};

	for (size_t i = 0; i < 2; i++) {
		char *path, procs[512];

		assert_true(asprintf(&path, "%s/%s", roots[i], name) > 0);
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
		if (!mkdir(path, 0755) && !access(procs, F_OK))
			return stage__own(stage, path, remove_folder);
		rmdir(path);
		free(path);
	}
	return NULL;
}
