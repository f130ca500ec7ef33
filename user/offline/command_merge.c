/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/command_merge.h"

#include <errno.h>

#include "base/log.h"
#include "system/resource_limits.h"
#include "command/exit_status.h"
#include "offline/recording_list.h"
#include "offline/recording_output.h"
#include "combine/joined_profile.h"

static int merge(const struct merge_options *options, const struct ls_profile *const *profiles)
{
	enum joined_categories categories = options->together ? JOINED_BY_NAME : JOINED_APART;
	struct joined_profile *joined;
	int err = joined_profile__new(profiles, options->input_count, categories, &joined);

	if (err) {
		log_error("cannot merge '%s' with the others: %s", options->inputs[0],
			  err == -ERANGE ? "together they have more time than a recording can hold"
					 : resource_limits__reason(err));
		return err;
	}
	if (joined_profile__lost_order(joined))
		log_warn("the order of samples and the marks are left out: not all of the "
			 "recordings have an order and a start ('record --timeline' keeps them)");
	err = recording_output__write(joined_profile__profile(joined), "the merged recording",
				      &options->outputs, options->mode);
	joined_profile__free(joined);
	return err;
}

int command_merge__run(const struct merge_options *options)
{
	struct recording_list *list;
	int err = recording_list__open(options->inputs, options->input_count, &list);

	if (!err)
		err = merge(options, recording_list__profiles(list));
	recording_list__close(list);
	return err ? EXIT_FAILED : EXIT_OK;
}
