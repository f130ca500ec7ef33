/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int set_walker(const struct luaspy_bpf *core, uint32_t family, int program)
{
	return bpf_map_update_elem(bpf_map__fd(core->maps.walkers), &family, &program, BPF_ANY)
		       ? -errno
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
	error = set_walker(programs->core, LS_FAMILY_NONE,
			   bpf_program__fd(programs->core->progs.walk_nothing));
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

static int open_object(const struct family *family, bool is_old, struct bpf_object **walker)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = family->walker_program);
	size_t size;
	const void *bytes = family->walker_file(is_old, &size);

	*walker = bpf_object__open_mem(bytes, size, &options);
	return *walker ? 0 : -errno;
}

static int load_object(const struct luaspy_bpf *core, const struct family *family, bool is_old,
		       struct bpf_object **walker)
{
	int error = open_object(family, is_old, walker);

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

void walker_files__close(const struct walker_files *walker)
{
	close(walker->program);
	close(walker->layouts);
}

/* Duplicates, which outlive the object. */
static int take_files(const struct bpf_object *object, const struct family *family,
		      struct walker_files *walker)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(object, family->walker_program);
	const struct bpf_map *layouts = bpf_object__find_map_by_name(object, family->layouts_map);
	int error;

	walker->program = fcntl(bpf_program__fd(program), F_DUPFD_CLOEXEC, 3);
	walker->layouts = fcntl(bpf_map__fd(layouts), F_DUPFD_CLOEXEC, 3);
	if (walker->program >= 0 && walker->layouts >= 0)
		return 0;
	error = -errno;
	walker_files__close(walker);
	return error;
}

int programs__open_walker(const struct programs *programs, uint32_t id, struct walker_files *walker)
{
	const struct family *family = families__get(id);
	struct bpf_object *object;
	int error;

	if (!family)
		return -ENOENT;
	error = load_object(programs->core, family, programs->are_old, &object);
	if (error)
		return error;
	error = take_files(object, family, walker);
	bpf_object__close(object);
	return error;
}

/* Gives the walker those layouts of the family that it does not have yet. */
static int fill_layouts(struct loaded_walker *walker, const struct family *family)
{
	const void *offsets;

	for (; (offsets = family->offsets(walker->layouts)); walker->layouts++)
		if (bpf_map_update_elem(walker->files.layouts, &walker->layouts, offsets, BPF_ANY))
			return -errno;
	return 0;
}

int programs__add_walker(struct programs *programs, uint32_t id, const struct walker_files *files)
{
	struct loaded_walker walker = {.is_loaded = true, .files = *files};
	int error = fill_layouts(&walker, families__get(id));

	if (!error)
		error = set_walker(programs->core, id, walker.files.program);
	if (error)
		walker_files__close(files);
	else
		programs->walkers[id] = walker;
	return error;
}

int programs__load_walker(struct programs *programs, uint32_t id)
{
	struct walker_files walker;
	int error;

	if (!families__get(id))
		return 0;
	if (programs->walkers[id].is_loaded)
		return fill_layouts(&programs->walkers[id], families__get(id));
	error = programs__open_walker(programs, id, &walker);
	return error ? error : programs__add_walker(programs, id, &walker);
}

/* ---- all of them */

static uint64_t runtime_ns(int program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(program, &info, &size) ? 0 : info.run_time_ns;
}

uint64_t programs__runtime_ns(const struct programs *programs)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, programs->core->obj)
	{
		sum += runtime_ns(bpf_program__fd(program));
	}
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (programs->walkers[id].is_loaded)
			sum += runtime_ns(programs->walkers[id].files.program);
	return sum;
}

void programs__free(struct programs *programs)
{
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (programs->walkers[id].is_loaded)
			walker_files__close(&programs->walkers[id].files);
	luaspy_bpf__destroy(programs->core);
	*programs = (struct programs){};
}
