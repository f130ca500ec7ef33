/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <locale.h>

#include "log.h"
#include "options.h"
#include "command_check.h"
#include "command_dump.h"
#include "command_record.h"
#include "command_top.h"
#include "exit_status.h"

int main(int argc, char **argv)
{
	struct options options;

	setlocale(LC_CTYPE, "");
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
	if (options.command == COMMAND_TOP)
		return command_top__run(&options.top);
	log__set_level(options.record.log_level);
	return command_record__run(&options.record);
}
