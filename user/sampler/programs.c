/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "interpreter/family.h"
#include "luaspy.skel.h"
#include "luaspy_old.skel.h"
#include "sampler/load_failure.h"
#include "sampler/sampler.h"
#include "sampler/timer_set.h"

/* Limit of simultaneous processes with Lua, if memory for each must be preallocated: 17 MiB. */
#define PREALLOCATED_IMAGES 1024

/*
 * Before Linux 6.1, the kernel does not allow programs on timers to use hash maps that allocate as
 * they fill (check_map_prog_compatibility(), kernel/bpf/verifier.c).
 */
static void preallocate_maps(struct luaspy_bpf *bpf)
{
	bpf_map__set_map_flags(bpf->maps.targets, 0);
	bpf_map__set_map_flags(bpf->maps.images, 0);
	bpf_map__set_max_entries(bpf->maps.images, PREALLOCATED_IMAGES);
}

/*
 * The programs for older kernels have the same variables and maps as the others, so one skeleton
 * serves both. NULL with errno set on error.
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

static int load_core(struct luaspy_bpf *bpf, const struct sampler_options *options)
{
	bpf->rodata->max_depth = options->sampling.max_depth;
	bpf->rodata->follows_children = options->follows_children || options->is_system_wide;
	bpf->rodata->inherits_timers = !options->is_system_wide;
	bpf->rodata->timer_count = timer_set__count(options->sampling.period_ns);
	bpf->rodata->measures_itself = options->sampling.max_overhead_ppm != 0;
	bpf_map__set_max_entries(bpf->maps.scratches, libbpf_num_possible_cpus());
	if (options->buffer_bytes)
		bpf_map__set_max_entries(bpf->maps.records, options->buffer_bytes);
	load_failure__listen();
	return luaspy_bpf__load(bpf);
}

/* Whether the verifier refused, as opposed to a lack of privileges, memory or file descriptors. */
static bool is_refusal(int error)
{
	return error == -EINVAL || error == -EACCES || error == -E2BIG;
}

static int open_and_load(const struct sampler_options *options, struct programs *programs)
{
	int error;

	programs->core = programs->are_old ? open_old() : luaspy_bpf__open();
	error = programs->core ? load_core(programs->core, options) : -errno;
	if (error)
		programs__free(programs);
	return error;
}

/* The image of processes whose present program has not been inspected yet. */
static int add_empty_image(const struct luaspy_bpf *core)
{
	static const struct ls_image nothing;
	uint32_t image = LS_IMAGE_NONE;

	return bpf_map_update_elem(bpf_map__fd(core->maps.images), &image, &nothing, BPF_ANY)
		       ? -errno
		       : 0;
}

/* Runs the BPF program that learns the PID namespace of its caller: ours. */
static int learn_namespace(const struct luaspy_bpf *core)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(bpf_program__fd(core->progs.learn_namespace), &options);
}

static int set_walker(const struct luaspy_bpf *core, uint32_t family,
		      const struct bpf_program *program)
{
	int fd = bpf_program__fd(program);

	return bpf_map_update_elem(bpf_map__fd(core->maps.walkers), &family, &fd, BPF_ANY) ? -errno
											   : 0;
}

int programs__load_as(const struct sampler_options *options, bool are_old,
		      struct programs *programs)
{
	int error;

	*programs = (struct programs){.are_old = are_old};
	error = open_and_load(options, programs);
	if (error)
		return error;
	error = set_walker(programs->core, LS_FAMILY_NONE, programs->core->progs.walk_nothing);
	if (!error)
		error = add_empty_image(programs->core);
	if (!error)
		error = learn_namespace(programs->core);
	if (error)
		programs__free(programs);
	return error;
}

int programs__load(const struct sampler_options *options, struct programs *programs)
{
	int error = programs__load_as(options, false, programs);

	return is_refusal(error) ? programs__load_as(options, true, programs) : error;
}

/* ---- walkers */

/* A walker's scratch is its own: it is working memory, of another size in each object. */
#define OWN_MAP "scratches"

/* Lets the walker work with the maps of the core that it has, too. */
static int share_maps(const struct luaspy_bpf *core, struct bpf_object *walker)
{
	struct bpf_map *map;
	int error = 0;

	bpf_object__for_each_map(map, walker)
	{
		const char *name = bpf_map__name(map);
		const struct bpf_map *cores = bpf_object__find_map_by_name(core->obj, name);

		if (bpf_map__is_internal(map))
			continue;
		if (!strcmp(name, OWN_MAP))
			error = bpf_map__set_max_entries(map, libbpf_num_possible_cpus());
		else if (cores)
			error = bpf_map__reuse_fd(map, bpf_map__fd(cores));
		if (error)
			break;
	}
	return error;
}

/* Writes the layouts of the family from slot *count on, and adds them to *count. */
static int fill_layouts(const struct bpf_object *walker, const struct family *family,
			uint32_t *count)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(walker, family->layouts_map);
	const void *offsets;

	for (; (offsets = family->offsets(*count)); (*count)++)
		if (bpf_map_update_elem(bpf_map__fd(map), count, offsets, BPF_ANY))
			return -errno;
	return 0;
}

static int open_walker(const struct family *family, bool is_old, struct bpf_object **walker)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = family->walker_program);
	size_t size;
	const void *bytes = family->walker_file(is_old, &size);

	*walker = bpf_object__open_mem(bytes, size, &options);
	return *walker ? 0 : -errno;
}

static int load_walker(const struct luaspy_bpf *core, const struct family *family, bool is_old,
		       struct bpf_object **walker)
{
	int error = open_walker(family, is_old, walker);

	if (error)
		return error;
	load_failure__listen();
	error = share_maps(core, *walker);
	if (!error)
		error = bpf_object__load(*walker);
	if (!error)
		return 0;
	bpf_object__close(*walker);
	*walker = NULL;
	return error;
}

int programs__load_walker(struct programs *programs, uint32_t id)
{
	const struct family *family = families__get(id);
	struct bpf_object *walker;
	int error;

	if (!family)
		return 0;
	if (programs->walkers[id])
		return fill_layouts(programs->walkers[id], family, &programs->layouts[id]);
	error = load_walker(programs->core, family, programs->are_old, &walker);
	if (!error)
		error = fill_layouts(walker, family, &programs->layouts[id]);
	if (!error)
		error = set_walker(
			programs->core, id,
			bpf_object__find_program_by_name(walker, family->walker_program));
	if (error)
		bpf_object__close(walker);
	else
		programs->walkers[id] = walker;
	return error;
}

/* ---- all of them */

static uint64_t runtime_ns(const struct bpf_object *object)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			sum += info.run_time_ns;
	}
	return sum;
}

uint64_t programs__runtime_ns(const struct programs *programs)
{
	uint64_t sum = runtime_ns(programs->core->obj);

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (programs->walkers[id])
			sum += runtime_ns(programs->walkers[id]);
	return sum;
}

void programs__free(struct programs *programs)
{
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		bpf_object__close(programs->walkers[id]);
	luaspy_bpf__destroy(programs->core);
	*programs = (struct programs){};
}
