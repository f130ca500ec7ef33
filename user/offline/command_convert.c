/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/command_convert.h"

#include "command/exit_status.h"
#include "offline/recording_output.h"
#include "reader/profile_file.h"

int command_convert__run(const struct convert_options *options)
{
	struct profile_file *file;
	int error = profile_file__open(options->input, &file);

	if (error)
		return EXIT_FAILED;
	error = recording_output__write(profile_file__profile(file), options->input,
					&options->outputs, options->mode);
	profile_file__close(file);
	return error ? EXIT_FAILED : EXIT_OK;
}
