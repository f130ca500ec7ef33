/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau_walker.h"

#include "family_walker_definitions.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "luau/walk_luau.bpf.h"
#pragma GCC diagnostic pop

#include "family_walker_body.h"

void luau_walker__start(struct walker *walker)
{
	start_walker(walker);
}

void luau_walker__end(struct walker *walker)
{
	end_walker(walker);
}

void luau_walker__forget(struct walker *walker)
{
	clear_walker(walker);
}

void luau_walker__sample_as(struct walker *walker, struct image *image,
			    const struct ls_luau_layout *layout)
{
	sample_as(walker, image, layout);
}

void luau_walker__sample(struct walker *walker, struct image *image)
{
	sample_as(walker, image, image->layout);
}

bool luau_walker__is_call(const struct walker *walker, size_t at, const struct image_call *call)
{
	return is_call(walker, at, call);
}

void luau_walker__expect(const struct walker *walker, const struct image *image, uint8_t class,
			 const size_t *threads, size_t thread_count)
{
	expect_chain(walker, image, class, threads, thread_count);
}
