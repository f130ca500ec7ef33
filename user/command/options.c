/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "layout_puc.h"
#include "record.h"
#include "units.h"

#ifndef LUASPY_VERSION
#define LUASPY_VERSION "unknown"
#endif

#define QUOTE(token)      #token
#define TEXT(macro)       QUOTE(macro)
#define PID_LAST          4194304 /* PID_MAX_LIMIT, linux/threads.h */
#define FREQUENCY_DEFAULT 1000
#define DEPTH_DEFAULT     512
#define FREQUENCY_TEXT    TEXT(FREQUENCY_DEFAULT)
#define DEPTH_TEXT        TEXT(DEPTH_DEFAULT)
#define DEPTH_MAX_TEXT    TEXT(LS_DEPTH_MAX)
#define PID_LAST_TEXT     TEXT(PID_LAST)
#define SUGGESTION_SIZE   64
#define NS_PER_S          UINT64_C(1000000000)
#define EXIT_STATUS_SECTION                                                                        \
	"\n"                                                                                       \
	"Exit status:\n"                                                                           \
	"  0  the profile was written\n"                                                           \
	"  1  it failed\n"                                                                         \
	"  2  the command line is wrong\n"                                                         \
	"  3  nothing to profile: no Lua found, or no script ran\n"

static const char general_help[] =
	"Examples:\n"
	"  sudo luaspy record -p 1234                      sample until Ctrl-C\n"
	"  sudo luaspy record -p 1234 -d 30 -o out.json    half a minute, into out.json\n"
	"  sudo luaspy record -- lua5.4 app.lua            start a command, until it ends\n"
	"  sudo luaspy record -p 1234 -d 10s -F 10khz      ten seconds, ten times as fine\n"
	"  sudo luaspy record -p 1234 -d 5m -o - | gzip > out.json.gz\n"
	"\n"
	"Usage: luaspy COMMAND [OPTION]...\n"
	"\n"
	"Tells which Lua functions a running process spends its CPU time in. It looks\n"
	"from outside: the process is not restarted, stopped or changed.\n"
	"\n"
	"Commands:\n"
	"  record          sample a process or a command, write a profile and a summary\n"
	"  check           tell what this machine, your privileges and a process allow\n"
	"  help [COMMAND]  all options of a command\n"
	"\n"
	"Options:\n"
	"  -h, --help      this text\n"
	"      --version   the version of luaspy\n" EXIT_STATUS_SECTION;

static const char record_help[] =
	"Examples:\n"
	"  sudo luaspy record -p 1234                      sample until Ctrl-C\n"
	"  sudo luaspy record -p 1234 -d 30 -o out.json    half a minute, into out.json\n"
	"  sudo luaspy record -p \"$(pidof -s lua5.4)\" -d 10s -F 10khz\n"
	"  sudo luaspy record -- lua5.4 app.lua            start a command, until it ends\n"
	"  sudo luaspy record -p 1234 -d 5m -o - | gzip > out.json.gz\n"
	"\n"
	"Usage: luaspy record -p PID [OPTION]...\n"
	"       luaspy record [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"\n"
	"Samples the script call stacks of a running process, all threads, and writes\n"
	"where its CPU time goes as ScriptProfiler JSON. Ctrl-C ends it and keeps what\n"
	"it has; so does the end of the process.\n"
	"\n"
	"A COMMAND is started by luaspy, under sudo as the user who called it and in\n"
	"that user's environment, and profiled from its first instruction. It has the\n"
	"terminal, gets luaspy's signals, and its exit status is luaspy's.\n"
	"\n"
	"What to profile:\n"
	"  -p, --pid=PID          a process that runs already\n"
	"  -d, --duration=TIME    for how long: 500ms, 30 or 30s, 1.5s, 5m, 1h, up to\n"
	"                         365 days (default: until Ctrl-C or its end)\n"
	"      --wait             where there is no Lua yet, wait for one to be loaded\n"
	"\n"
	"When to sample:\n"
	"      --paused           not yet: SIGUSR1 has it go on, or pause. What runs in a\n"
	"                         pause is not in the profile; --duration goes on\n"
	"      --control=FIFO     be told by lines in FIFO, which is made if need be:\n"
	"                         pause, resume, mark TEXT, write (the profile so far),\n"
	"                         stop\n"
	"\n"
	"How to sample:\n"
	"  -F, --frequency=FREQ   samples per second of CPU time, for each thread:\n"
	"                         1 to 20000, or 1khz, 10khz (default: " FREQUENCY_TEXT ")\n"
	"      --max-depth=N      frames to keep of a stack, 1 to " DEPTH_MAX_TEXT "\n"
	"                         (default: " DEPTH_TEXT ")\n"
	"      --lines            tell functions apart by the line that they are at\n"
	"      --layout=NAME      read its Lua as that of release NAME, such as 5.4.6,\n"
	"                         whatever samples say (--layout=help lists them)\n"
	"\n"
	"Output:\n"
	"  -o, --output=FILE      the profile; - is standard output\n"
	"                         (default: NAME-PID-DATE.json in this folder)\n"
	"      --category=WHAT    what the profile's top level is: thread, by its name;\n"
	"                         process; state, one for each Lua VM; or chunk, the\n"
	"                         outermost script of the stack (default: thread). Time\n"
	"                         without script is '(no VM)' or '(no chunk)' there\n"
	"  -q, --quiet            errors only: no countdown, no warnings, no summary\n"
	"  -v, --verbose          say how the interpreter was found, and more\n"
	"\n"
	"  -h, --help             this text\n" EXIT_STATUS_SECTION;

static const char check_help[] =
	"Examples:\n"
	"  sudo luaspy check            what this machine and your privileges allow\n"
	"  sudo luaspy check -p 1234    and whether that process can be profiled\n"
	"\n"
	"Usage: luaspy check [OPTION]...\n"
	"\n"
	"Prints a line for each thing that a recording depends on, and a remedy for what\n"
	"is wrong. With a process it samples that for up to two seconds, to tell the Lua\n"
	"in it and why its layout is trusted.\n"
	"\n"
	"Options:\n"
	"  -p, --pid=PID  the process to look into\n"
	"  -h, --help     this text\n"
	"\n"
	"Exit status:\n"
	"  0  a recording would work\n"
	"  1  it would not\n"
	"  2  the command line is wrong\n"
	"  3  the process has no Lua that is known\n";

enum {
	OPTION_MAX_DEPTH = 256, /* no letter */
	OPTION_LAYOUT,
	OPTION_WAIT,
	OPTION_LINES,
	OPTION_CATEGORY,
	OPTION_PAUSED,
	OPTION_CONTROL,
};

/* What each option of record takes, for messages; NULL: no value. */
static const struct accepted {
	int letter;
	const char *name, *value;
} record_accepted[] = {
	{'p', "--pid", "a process id, 1 to " PID_LAST_TEXT},
	{'d', "--duration", "a time such as 500ms, 30, 1.5s, 5m or 1h, up to 365 days"},
	{'F', "--frequency", "1 to 20000 Hz, such as 1000, 250hz or 10khz"},
	{OPTION_MAX_DEPTH, "--max-depth", "a number of frames, 1 to " DEPTH_MAX_TEXT},
	{OPTION_LAYOUT, "--layout", "a release such as 5.4.6, or help, which lists them"},
	{OPTION_WAIT, "--wait", NULL},
	{OPTION_LINES, "--lines", NULL},
	{OPTION_CATEGORY, "--category", "thread, process, state or chunk"},
	{OPTION_PAUSED, "--paused", NULL},
	{OPTION_CONTROL, "--control", "the name of a FIFO, which need not exist"},
	{'o', "--output", "a file name, or - for standard output"},
	{'q', "--quiet", NULL},
	{'v', "--verbose", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static const struct option record_options[] = {
	{"pid", required_argument, NULL, 'p'},
	{"duration", required_argument, NULL, 'd'},
	{"frequency", required_argument, NULL, 'F'},
	{"max-depth", required_argument, NULL, OPTION_MAX_DEPTH},
	{"layout", required_argument, NULL, OPTION_LAYOUT},
	{"wait", no_argument, NULL, OPTION_WAIT},
	{"lines", no_argument, NULL, OPTION_LINES},
	{"category", required_argument, NULL, OPTION_CATEGORY},
	{"paused", no_argument, NULL, OPTION_PAUSED},
	{"control", required_argument, NULL, OPTION_CONTROL},
	{"output", required_argument, NULL, 'o'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char *const command_words[] = {"record", "check", "help", "--help", "--version", NULL};

static enum options_verdict print_out(const char *text)
{
	if (fputs(text, stdout) != EOF && !fflush(stdout))
		return OPTIONS_DONE;
	log_error("cannot write to standard output: %s", strerror(errno));
	return OPTIONS_FAILED;
}

/* Levenshtein. A word too long to be a slip of any of ours is far. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[SUGGESTION_SIZE], length = strlen(b);

	if (strlen(a) >= SUGGESTION_SIZE || length >= SUGGESTION_SIZE)
		return SUGGESTION_SIZE;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[length];
}

/* A word that `typed` may have meant: it begins so, or two letters or a third of them differ. */
static const char *nearest(const char *typed, const char *const *words)
{
	const char *best = NULL;
	size_t best_distance = SUGGESTION_SIZE;

	for (; *words; words++) {
		size_t distance = edit_distance(typed, *words), near = strlen(*words) / 3;

		if (near < 2)
			near = 2;
		if (strlen(typed) > 2 && !strncmp(typed, *words, strlen(typed)))
			distance = 1;
		if (distance <= near && distance < best_distance) {
			best = *words;
			best_distance = distance;
		}
	}
	return best;
}

static enum options_verdict unknown_command(const char *typed)
{
	const char *meant = nearest(typed, command_words);
	const char *kind = *typed == '-' ? "option" : "command";

	if (meant)
		log_error("unknown %s '%s' (did you mean '%s'?)", kind, typed, meant);
	else
		log_error("unknown %s '%s' (see 'luaspy --help')", kind, typed);
	return OPTIONS_WRONG;
}

static enum options_verdict stray(const char *argument, const char *after)
{
	log_error("unexpected argument '%s' after 'luaspy %s' (see 'luaspy --help')", argument,
		  after);
	return OPTIONS_WRONG;
}

static enum options_verdict unknown_option(const char *command, const char *typed)
{
	const char *names[sizeof(record_accepted) / sizeof(record_accepted[0])];
	char name[SUGGESTION_SIZE];
	const char *meant;
	size_t i;

	for (i = 0; record_accepted[i].name; i++)
		names[i] = record_accepted[i].name;
	names[i] = NULL;
	/* "--periode=3": the value is not what is unknown. */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed, "="), typed);
	meant = nearest(name, names);
	if (meant)
		log_error("unknown option '%s' (did you mean '%s'?)", typed, meant);
	else
		log_error("unknown option '%s' (see 'luaspy %s --help')", typed, command);
	return OPTIONS_WRONG;
}

static const struct accepted *find_accepted(int letter)
{
	const struct accepted *accepted = record_accepted;

	while (accepted->name && accepted->letter != letter)
		accepted++;
	return accepted->name ? accepted : NULL;
}

/* What getopt_long() refused; `word` is the argument that it stopped at. */
static enum options_verdict refuse_option(const char *command, int letter, const char *word)
{
	const struct accepted *accepted = find_accepted(optopt);
	char typed[] = {'-', (char)optopt, '\0'};

	if (letter == ':' && accepted)
		log_error("option '%s' needs a value (%s)", accepted->name, accepted->value);
	else if (accepted)
		log_error("option '%s' takes no value, but got '%s'", accepted->name,
			  word + strcspn(word, "=") + (strchr(word, '=') != NULL));
	else
		return unknown_option(command, optopt ? typed : word);
	return OPTIONS_WRONG;
}

static int parse_number(const char *text, uint32_t max, uint32_t *number)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		value = value > max ? value : value * 10 + (uint64_t)(*text - '0');
	}
	if (!value || value > max)
		return -ERANGE;
	*number = (uint32_t)value;
	return 0;
}

/* Takes one option with its value, as getopt_long() left it in optarg. */
static int set_record_option(int letter, struct record_options *record)
{
	uint32_t number;
	int err = 0;

	switch (letter) {
	case 'p':
		err = parse_number(optarg, PID_LAST, &number);
		if (!err)
			record->pid = (pid_t)number;
		break;
	case 'd':
		err = units__parse_duration(optarg, &record->duration_ns);
		break;
	case 'F':
		err = units__parse_frequency(optarg, &record->period_ns);
		break;
	case OPTION_MAX_DEPTH:
		err = parse_number(optarg, LS_DEPTH_MAX, &record->max_depth);
		break;
	case OPTION_LAYOUT:
		record->layout = optarg;
		err = layout_puc__find(optarg) < 0 ? -EINVAL : 0;
		break;
	case OPTION_CATEGORY:
		err = category__parse(optarg);
		if (err >= 0) {
			record->category = (enum category_kind)err;
			err = 0;
		}
		break;
	case OPTION_PAUSED:
		record->is_paused = true;
		break;
	case OPTION_CONTROL:
		record->control = optarg;
		err = *optarg ? 0 : -EINVAL;
		break;
	case OPTION_WAIT:
		record->waits = true;
		break;
	case OPTION_LINES:
		record->lines = true;
		break;
	case 'o':
		record->output = optarg;
		err = *optarg ? 0 : -EINVAL;
		break;
	case 'q':
		record->log_level = LOG_ERROR;
		break;
	case 'v':
		record->log_level = LOG_DEBUG;
		break;
	}
	return err;
}

static void list_layouts(char *to, size_t size, const char *separator)
{
	size_t length = 0;

	for (size_t i = 0; i < layouts_puc_count && length < size; i++)
		length += (size_t)snprintf(to + length, size - length, "%s%s", i ? separator : "",
					   layouts_puc[i].name);
}

static enum options_verdict refuse_value(int letter, const char *value, int err)
{
	const struct accepted *accepted = find_accepted(letter);
	char layouts[512];

	if (letter == OPTION_LAYOUT) {
		list_layouts(layouts, sizeof(layouts), ", ");
		log_error("unknown layout '%s' (accepted: %s)", value, layouts);
		return OPTIONS_WRONG;
	}
	log_error("%s '%s' of option '%s' (accepted: %s)",
		  err == -ERANGE ? "out of range: value" : "cannot understand value", value,
		  accepted->name, accepted->value);
	return OPTIONS_WRONG;
}

static enum options_verdict print_layouts(void)
{
	char layouts[512];

	list_layouts(layouts, sizeof(layouts) - 1, "\n");
	strcat(layouts, "\n");
	return print_out(layouts);
}

/* After the options: a command, or a process was given with them. */
static enum options_verdict choose_target(int argc, char **argv, struct record_options *record)
{
	if (optind < argc && strcmp(argv[optind - 1], "--")) {
		log_error("unexpected argument '%s' (a process is given as '-p PID', a command "
			  "after '--')",
			  argv[optind]);
		return OPTIONS_WRONG;
	}
	if (optind < argc && record->pid) {
		log_error("both a process and a command are given: '-p %d' and '%s' (one session "
			  "records one of them)",
			  record->pid, argv[optind]);
		return OPTIONS_WRONG;
	}
	if (optind < argc) {
		record->words = argv + optind;
	} else if (!record->pid) {
		log_error("missing option '--pid': which process? (accepted: %s; or a command "
			  "after '--')",
			  find_accepted('p')->value);
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

static enum options_verdict parse_record(int argc, char **argv, struct record_options *record)
{
	int letter, err;

	*record = (struct record_options){
		.period_ns = NS_PER_S / FREQUENCY_DEFAULT,
		.max_depth = DEPTH_DEFAULT,
		.log_level = LOG_INFO,
	};
	/* 0, not 1: with the rest of an earlier command line forgotten too. */
	optind = 0;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, "+:p:d:F:o:qvh", record_options, NULL)) != -1) {
		if (letter == 'h')
			return print_out(record_help);
		if (letter == OPTION_LAYOUT && !strcmp(optarg, "help"))
			return print_layouts();
		if (letter == '?' || letter == ':')
			return refuse_option(argv[0], letter, argv[optind - 1]);
		err = set_record_option(letter, record);
		if (err)
			return refuse_value(letter, optarg, err);
	}
	return choose_target(argc, argv, record);
}

static enum options_verdict parse_check(int argc, char **argv, struct check_options *check)
{
	static const struct option options[] = {
		{"pid", required_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	uint32_t pid;
	int letter, err;

	optind = 0;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, "+:p:h", options, NULL)) != -1) {
		if (letter == 'h')
			return print_out(check_help);
		if (letter != 'p')
			return refuse_option(argv[0], letter, argv[optind - 1]);
		err = parse_number(optarg, PID_LAST, &pid);
		if (err)
			return refuse_value(letter, optarg, err);
		check->pid = (pid_t)pid;
	}
	return optind < argc ? stray(argv[optind], argv[0]) : OPTIONS_RUN;
}

/* luaspy help [COMMAND] */
static enum options_verdict print_help(int argc, char **argv)
{
	if (argc > 2)
		return stray(argv[2], "help COMMAND");
	if (argc < 2 || !strcmp(argv[1], "help"))
		return print_out(general_help);
	if (!strcmp(argv[1], "record"))
		return print_out(record_help);
	if (!strcmp(argv[1], "check"))
		return print_out(check_help);
	return unknown_command(argv[1]);
}

enum options_verdict options__parse(int argc, char **argv, struct options *options)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	memset(options, 0, sizeof(*options));
	if (!word) {
		log_error("missing command (try 'luaspy record -p PID', or see 'luaspy --help')");
		return OPTIONS_WRONG;
	}
	if (!strcmp(word, "record")) {
		options->command = COMMAND_RECORD;
		return parse_record(argc - 1, argv + 1, &options->record);
	}
	if (!strcmp(word, "check")) {
		options->command = COMMAND_CHECK;
		return parse_check(argc - 1, argv + 1, &options->check);
	}
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_help(argc - 1, argv + 1);
	if (!strcmp(word, "--version")) {
		if (argc > 2)
			return stray(argv[2], "--version");
		return print_out("luaspy " LUASPY_VERSION "\n");
	}
	return unknown_command(word);
}
