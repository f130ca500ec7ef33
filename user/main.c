/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

#include "base/log.h"
#include "command/command_check.h"
#include "command/command_dump.h"
#include "command/command_list.h"
#include "command/command_record.h"
#include "command/command_top.h"
#include "command/exit_status.h"
#include "offline/command_convert.h"
#include "offline/command_diff.h"
#include "offline/command_merge.h"
#include "offline/command_open.h"
#include "offline/command_report.h"
#include "offline/command_trim.h"
#include "options/options.h"
#include "system/resource_limits.h"

/*
 * Opens /dev/null in place of closed standard files. Otherwise the next file opened would get such
 * a number, and standard output would go into it: into the profile, or to the kernel. Reading
 * standard input and writing the others still fails, as on closed files.
 */
static void fill_standard_files(void)
{
	for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
		if (fcntl(file, F_GETFD) < 0 &&
		    open("/dev/null", (file ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	struct options options;

	fill_standard_files();
	/* It would use root's rights under the environment of another user. */
	if (getuid() != geteuid()) {
		log_error("cannot run with the set-user-ID bit (remove it, and use sudo or file "
			  "capabilities)");
		return EXIT_FAILED;
	}
	setlocale(LC_CTYPE, "");
	resource_limits__survive_file_size();
	switch (options__parse(argc, argv, &options)) {
	case OPTIONS_RUN:
		break;
	case OPTIONS_DONE:
		return EXIT_OK;
	case OPTIONS_FAILED:
		return EXIT_FAILED;
	case OPTIONS_WRONG:
		return EXIT_USAGE;
	}
	if (options.command == COMMAND_CHECK) {
		log__set_level(options.check.log_level);
		return command_check__run(&options.check);
	}
	if (options.command == COMMAND_DUMP) {
		log__set_level(LOG_WARN);
		return command_dump__run(&options.dump);
	}
	if (options.command == COMMAND_LIST)
		return command_list__run(&options.list);
	if (options.command == COMMAND_CONVERT)
		return command_convert__run(&options.convert);
	if (options.command == COMMAND_REPORT)
		return command_report__run(&options.report);
	if (options.command == COMMAND_OPEN)
		return command_open__run(&options.open);
	if (options.command == COMMAND_MERGE)
		return command_merge__run(&options.merge);
	if (options.command == COMMAND_TRIM)
		return command_trim__run(&options.trim);
	if (options.command == COMMAND_DIFF)
		return command_diff__run(&options.diff);
	if (options.command == COMMAND_TOP)
		return command_top__run(&options.top);
	log__set_level(options.record.log_level);
	return command_record__run(&options.record);
}
