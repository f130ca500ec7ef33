/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/proc_file.h"
#include "process/process.h"

#define BYTES_MOST 4096 /* that are read of the words */
#define WORDS_MOST 32   /* that are tried as the name of a file */

/* Whether the word names a file, as the process sees it: below its root, or in its folder. */
static bool names_file(pid_t pid, const char *word)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	struct stat status;
	char path[32];
	int folder, file;
	bool is_file;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, *word == '/' ? "root" : "cwd");
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	if (*word == '/')
		how.resolve |= RESOLVE_IN_ROOT;
	file = (int)syscall(SYS_openat2, folder, word, &how, sizeof(how));
	close(folder);
	if (file < 0)
		return false;
	is_file = !fstat(file, &status) && S_ISREG(status.st_mode);
	close(file);
	return is_file;
}

/* `words` is followed by a NUL. */
static void find_script(pid_t pid, const char *words, size_t size, struct command_line *line)
{
	const char *word = words + strlen(words) + 1;

	for (int i = 0; i < WORDS_MOST && word < words + size; i++) {
		size_t length = strlen(word);

		if (length && length < sizeof(line->script) && *word != '-' &&
		    names_file(pid, word)) {
			memcpy(line->script, word, length + 1);
			return;
		}
		word += length + 1;
	}
}

static const char *without_folders(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Their size, or -errno. A NUL follows them. */
static ssize_t read_words(pid_t id, char words[BYTES_MOST + 1])
{
	FILE *stream = proc_file__open("/proc/%d/cmdline", id);
	size_t size;

	if (!stream)
		return proc_file__error(errno);
	size = fread(words, 1, BYTES_MOST, stream);
	fclose(stream);
	words[size] = '\0';
	return (ssize_t)size;
}

int command_line__read(pid_t pid, struct command_line *line)
{
	char words[BYTES_MOST + 1];
	ssize_t count = read_words(pid, words);
	size_t size;

	*line = (struct command_line){};
	if (!count) {
		pid = process__memory_id(pid);
		count = process__is_executing(pid) ? -EAGAIN : read_words(pid, words);
	}
	if (count < 0)
		return (int)count;
	size = (size_t)count;
	snprintf(line->program, sizeof(line->program), "%.*s", COMMAND_LINE_SIZE - 1,
		 without_folders(words));
	find_script(pid, words, size, line);
	while (size && !words[size - 1])
		size--;
	for (size_t i = 0; i < size && i < sizeof(line->text) - 1; i++)
		line->text[i] = words[i] ? words[i] : ' ';
	return 0;
}

/*
 * The command line without the folders of its program. A blank ends the program, because those that
 * rewrite their command lines leave one word of it, which may hold other paths.
 */
static const char *without_program_folders(const char *text)
{
	const char *name;

	text += strspn(text, " ");
	name = text + strcspn(text, " ");
	while (name > text && name[-1] != '/')
		name--;
	return *name && *name != ' ' ? name : text;
}

/* Cuts the text to the size of a label, at the end of a character. */
static void copy_beginning(const char *text, char label[COMMAND_LINE_LABEL_SIZE])
{
	static const char cut[] = "...";
	size_t length = strlen(text);

	if (length < COMMAND_LINE_LABEL_SIZE) {
		memcpy(label, text, length + 1);
		return;
	}
	length = COMMAND_LINE_LABEL_SIZE - sizeof(cut);
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(label, text, length);
	memcpy(label + length, cut, sizeof(cut));
}

char *command_line__label(const struct command_line *line, const char *name,
			  char label[COMMAND_LINE_LABEL_SIZE])
{
	const char *text;
	char call[2 * COMMAND_LINE_SIZE];

	if (*line->script) {
		snprintf(call, sizeof(call), "%s %s", *line->program ? line->program : name,
			 without_folders(line->script));
		text = call;
	} else {
		text = without_program_folders(line->text);
	}
	copy_beginning(*text ? text : name, label);
	return label;
}
