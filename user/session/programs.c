/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "load_failure.h"
#include "luaspy.skel.h"
#include "luaspy_old.skel.h"
#include "sampler.h"
#include "timer_set.h"

/* Processes with Lua at once, where memory for each has to be set aside: 17 MiB. */
#define PREALLOCATED_IMAGES 1024

/*
 * Before Linux 6.1, the kernel refuses hash maps that allocate as they fill to programs of timers
 * (check_map_prog_compatibility(), kernel/bpf/verifier.c).
 */
static void preallocate_maps(struct luaspy_bpf *bpf)
{
	bpf_map__set_map_flags(bpf->maps.targets, 0);
	bpf_map__set_map_flags(bpf->maps.images, 0);
	bpf_map__set_max_entries(bpf->maps.images, PREALLOCATED_IMAGES);
}

/*
 * The programs for older kernels have the variables of the others and all their maps, so the same
 * skeleton serves for both. NULL and errno where there is no memory.
 */
static struct luaspy_bpf *open_old(void)
{
	struct luaspy_bpf *bpf = calloc(1, sizeof(*bpf));
	int error = bpf ? luaspy_bpf__create_skeleton(bpf) : -ENOMEM;

	if (!error) {
		bpf->skeleton->data = (void *)luaspy_old_bpf__elf_bytes(&bpf->skeleton->data_sz);
		error = bpf_object__open_skeleton(bpf->skeleton, NULL);
	}
	if (!error) {
		preallocate_maps(bpf);
		return bpf;
	}
	luaspy_bpf__destroy(bpf);
	errno = -error;
	return NULL;
}

static int load(struct luaspy_bpf *bpf, const struct sampler_options *options)
{
	bpf->rodata->max_depth = options->max_depth;
	bpf->rodata->follows_children = options->follows_children || options->is_system_wide;
	bpf->rodata->inherits_timers = !options->is_system_wide;
	bpf->rodata->timer_count = timer_set__count(options->period_ns);
	bpf->rodata->measures_itself = options->measures_cost;
	bpf_map__set_max_entries(bpf->maps.scratches, libbpf_num_possible_cpus());
	load_failure__listen();
	return luaspy_bpf__load(bpf);
}

/* What the verifier answers, unlike want of privileges, memory or files. */
static bool is_refusal(int error)
{
	return error == -EINVAL || error == -EACCES || error == -E2BIG;
}

static int open_and_load(const struct sampler_options *options, bool is_old,
			 struct luaspy_bpf **programs)
{
	struct luaspy_bpf *bpf = is_old ? open_old() : luaspy_bpf__open();
	int error = bpf ? load(bpf, options) : -errno;

	*programs = bpf;
	if (error) {
		luaspy_bpf__destroy(bpf);
		*programs = NULL;
	}
	return error;
}

static int fill_families(const struct luaspy_bpf *bpf)
{
	uint32_t family = LS_FAMILY_PUC;
	int program = bpf_program__fd(bpf->progs.walk_puc);

	return bpf_map_update_elem(bpf_map__fd(bpf->maps.families), &family, &program, BPF_ANY)
		       ? -errno
		       : 0;
}

/* For processes that run a program that nobody has looked at yet. */
static int add_empty_image(const struct luaspy_bpf *bpf)
{
	static const struct ls_target nothing = {.family = LS_FAMILY_PUC};
	uint32_t image = LS_IMAGE_NONE;

	return bpf_map_update_elem(bpf_map__fd(bpf->maps.images), &image, &nothing, BPF_ANY)
		       ? -errno
		       : 0;
}

/* Runs the program that looks at its caller's namespace: us. */
static int learn_namespace(const struct luaspy_bpf *bpf)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.learn_namespace), &options);
}

int programs__load(const struct sampler_options *options, struct luaspy_bpf **programs)
{
	int error = open_and_load(options, false, programs);

	if (is_refusal(error))
		error = open_and_load(options, true, programs);
	if (error)
		return error;
	error = fill_families(*programs);
	if (!error)
		error = add_empty_image(*programs);
	if (!error)
		error = learn_namespace(*programs);
	if (!error)
		return 0;
	luaspy_bpf__destroy(*programs);
	*programs = NULL;
	return error;
}
