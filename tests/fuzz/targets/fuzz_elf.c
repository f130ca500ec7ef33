/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An input is a file that the target has mapped as a program: what it is, what is called what. */
#include <errno.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "process/native_names.h"
#include "process_of_input.h"
#include "interpreter/interpreters.h"

#define ADDRESSES 64

static void look_at_symbols(struct elf_file *file, size_t size)
{
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		uint64_t offset = size / ADDRESSES * i;
		uint64_t address = elf_file__address_of_offset(file, offset);
		const char *name = elf_file__function_at(file, address);

		require(!name || strlen(name) <= 4095);
		name = elf_file__function_at(file, i);
		require(!name || strlen(name) <= 4095);
	}
}

static void look_into_file(size_t size)
{
	struct elf_file *file;
	const char *found;
	size_t room = 0;
	int error = elf_file__open(process_of_input__path(), &file);

	require(!error == !!file);
	if (error) {
		require(error == -ENOEXEC || error == -ENOTSUP || error == -ENOMEM);
		return;
	}
	elf_file__is_stripped(file);
	elf_file__is_shared_library(file);
	found = elf_file__find(file, "Lua", &room);
	if (found) {
		require(room >= 3 && room <= size);
		/* All of it can be read. */
		require(memmem(found, room, "Lua", 3) == found);
		require(!memchr(found, 0, room) || room);
	}
	look_at_symbols(file, size);
	elf_file__close(file);
}

static void identify(void)
{
	struct lua_files *files = lua_files__new();
	struct interpreters found;
	int error;

	require(files);
	error = interpreters__find(files, getpid(), &found);
	require(!error || error == -ENOTSUP || error == -ENOMEM);
	for (size_t i = 0; i < found.count; i++) {
		const struct interpreter *interpreter = &found.items[i];

		require(interpreter->path && interpreter->file.family);
		require(strlen(interpreter->file.release) < sizeof(interpreter->file.release));
	}
	interpreters__free(&found);
	lua_files__free(files);
}

static void name_code(size_t size)
{
	struct elf_files *files = elf_files__new();
	struct native_names *names = native_names__new(getpid(), files);

	require(files && names);
	native_names__prepare(names);
	for (uint64_t i = 0; i < ADDRESSES; i++)
		require(native_names__name(names, PROCESS_OF_INPUT_START + size / ADDRESSES * i));
	native_names__free(names);
	elf_files__free(files);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = {bytes, size};

	process_of_input__set(&input);
	look_into_file(size);
	identify();
	name_code(size);
	return 0;
}
