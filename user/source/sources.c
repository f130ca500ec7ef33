/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/sources.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/generations.h"
#include "base/hash_table.h"
#include "source/source_file.h"

#define SOURCES_MOST 2048
#define CONTEXTS_NEW 512         /* of processes, before those of others are forgotten */
#define BYTES_MOST   (24U << 20) /* of definitions; the source in use may have more */

/*
 * A file that has not changed, or a text. Nobody gains from two texts of one hash: whoever makes
 * them only misnames functions of their own.
 */
struct source_key {
	uint64_t device, inode;
	uint64_t size;
	uint64_t modified_ns, changed_ns; /* changed_ns of a text: its hash */
};

struct source {
	struct source_key key;
	struct definitions *definitions;
	int error;
	UT_hash_handle hh;
};

struct sources {
	struct source *entries; /* the least recently used first */
	size_t bytes;
	struct generations *contexts; /* struct path_context by pid */
};

static void drop_context(void *value)
{
	path_context__free(value);
}

struct sources *sources__new(void)
{
	struct sources *sources = calloc(1, sizeof(*sources));

	if (sources)
		sources->contexts = generations__new(sizeof(uint64_t), sizeof(struct path_context),
						     drop_context);
	if (sources && sources->contexts)
		return sources;
	free(sources);
	return NULL;
}

/* The context of the process as of the last call, or a zeroed one. NULL when out of memory. */
static struct path_context *context_of(struct sources *sources, pid_t pid)
{
	uint64_t key = (uint64_t)pid;
	struct path_context *context = generations__find(sources->contexts, &key);

	if (context)
		return context;
	if (generations__young(sources->contexts) >= CONTEXTS_NEW)
		generations__age(sources->contexts);
	return generations__add(sources->contexts, &key);
}

void sources__forget(struct sources *sources, pid_t pid)
{
	uint64_t key = (uint64_t)pid;
	struct path_context *context = generations__find(sources->contexts, &key);

	if (!context)
		return;
	path_context__free(context);
	*context = (struct path_context){};
}

static size_t bytes_of(const struct source *source)
{
	return sizeof(*source) + (source->definitions ? definitions__size(source->definitions) : 0);
}

static void drop(struct sources *sources, struct source *source)
{
	sources->bytes -= bytes_of(source);
	HASH_DEL(sources->entries, source);
	definitions__free(source->definitions);
	free(source);
}

void sources__free(struct sources *sources)
{
	struct source *source, *next;

	if (!sources)
		return;
	HASH_ITER (hh, sources->entries, source, next)
		drop(sources, source);
	generations__free(sources->contexts);
	free(sources);
}

/* Makes it the most recently used. NULL: it is not known. */
static struct source *find(struct sources *sources, const struct source_key *key)
{
	struct source *source;

	HASH_FIND(hh, sources->entries, key, sizeof(*key), source);
	if (!source)
		return NULL;
	HASH_DEL(sources->entries, source);
	HASH_ADD(hh, sources->entries, key, sizeof(source->key), source);
	if (HASH_HAS_ADDED(source))
		return source;
	sources->bytes -= bytes_of(source);
	definitions__free(source->definitions);
	free(source);
	return NULL;
}

static void make_room(struct sources *sources, size_t more)
{
	while (sources->entries &&
	       (sources->bytes + more > BYTES_MOST || HASH_COUNT(sources->entries) >= SOURCES_MOST))
		drop(sources, sources->entries);
}

/* Finds the definitions in this text and keeps them, or the reason why there are none. */
static struct source *add(struct sources *sources, const struct source_key *key, const char *text,
			  size_t size)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->key = *key;
	source->error = definitions__find(text, size, &source->definitions);
	make_room(sources, bytes_of(source));
	HASH_ADD(hh, sources->entries, key, sizeof(source->key), source);
	if (HASH_HAS_ADDED(source)) {
		sources->bytes += bytes_of(source);
		return source;
	}
	definitions__free(source->definitions);
	free(source);
	return NULL;
}

static int answer(const struct source *source, const struct definitions **definitions)
{
	*definitions = source ? source->definitions : NULL;
	return source ? source->error : -ENOMEM;
}

static uint64_t nanoseconds(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_nsec;
}

int sources__of_file(struct sources *sources, pid_t pid, const char *name, bool as_root,
		     const struct definitions **definitions)
{
	struct path_context *context = context_of(sources, pid);
	struct source_file file;
	struct source_key key;
	struct source *source;
	char *text = NULL;
	size_t size;
	int error = context ? source_file__find(pid, context, name, as_root, &file) : -ENOMEM;

	if (error)
		return error;
	key = (struct source_key){.device = file.status.st_dev,
				  .inode = file.status.st_ino,
				  .size = (uint64_t)file.status.st_size,
				  .modified_ns = nanoseconds(&file.status.st_mtim),
				  .changed_ns = nanoseconds(&file.status.st_ctim)};
	source = find(sources, &key);
	if (!source) {
		error = source_file__read(&file, &text, &size);
		source = error ? NULL : add(sources, &key, text, size);
	}
	free(text);
	source_file__close(&file);
	return error ? error : answer(source, definitions);
}

/* FNV-1a over words of eight bytes. */
static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325), word;

	for (; size; text += sizeof(word), size -= sizeof(word)) {
		word = 0;
		if (size < sizeof(word)) {
			for (size_t i = 0; i < size; i++)
				word |= (uint64_t)(unsigned char)text[i] << 8 * i;
			return (hash ^ word) * UINT64_C(0x100000001b3);
		}
		__builtin_memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 32;
	}
	return hash;
}

int sources__of_text(struct sources *sources, const char *text, size_t size,
		     const struct definitions **definitions)
{
	struct source_key key = {.size = size, .changed_ns = hash_of(text, size)};
	struct source *source = find(sources, &key);

	if (!source)
		source = add(sources, &key, text, size);
	return answer(source, definitions);
}
