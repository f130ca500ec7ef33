/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "spies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stage.h"

/* Called beside a test that may fail at any time: a missing file is not an error. */
static bool read_line(const char *path, const char *key, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool is_found = false;

	while (file && !is_found && fgets(line, size, file))
		is_found = !strncmp(line, key, strlen(key));
	if (file)
		fclose(file);
	return is_found;
}

static void add_children(struct spies *spies, pid_t pid)
{
	char path[64], line[4096];
	char *rest = line, *word;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	if (!read_line(path, "", line, sizeof(line)))
		return;
	while ((word = strsep(&rest, " ")) && spies->count < SPIES_MOST)
		if (*word)
			spies->pids[spies->count++] = atoi(word);
}

struct spies spies__family(pid_t pid)
{
	struct spies spies = {.pids = {pid}, .count = 1};

	for (int i = 0; i < spies.count; i++)
		add_children(&spies, spies.pids[i]);
	return spies;
}

char spies__state(pid_t pid)
{
	char path[64], line[128];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return read_line(path, "State:", line, sizeof(line)) ? line[strlen("State:\t")] : 0;
}

bool spies__is_alive(pid_t pid)
{
	char state = spies__state(pid);

	return state && state != 'Z' && state != 'X';
}

bool spies__any_alive(const struct spies *spies, bool even_held)
{
	for (int i = 0; i < spies->count; i++)
		if (spies__is_alive(spies->pids[i]) &&
		    (even_held || spies__state(spies->pids[i]) != 'D'))
			return true;
	return false;
}

static long memory_kb(pid_t pid)
{
	char path[64], line[128];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return read_line(path, "VmHWM:", line, sizeof(line)) ? atol(line + strlen("VmHWM:")) : 0;
}

/* One that was seen before has the last place; process numbers do not come round so soon. */
static void note_time(struct spies_cost *cost, pid_t pid)
{
	struct timespec time;
	clockid_t clock;
	double seconds;
	int at = 0;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return;
	while (at < cost->spies.count && cost->spies.pids[at] != pid)
		at++;
	if (at == SPIES_MOST)
		return;
	if (at == cost->spies.count) {
		cost->spies.pids[cost->spies.count++] = pid;
		cost->seconds[at] = 0;
	}
	seconds = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
	cost->all_seconds += seconds - cost->seconds[at];
	cost->seconds[at] = seconds;
}

void spies__measure(pid_t pid, double pause_seconds, struct spies_cost *cost)
{
	struct spies spies = spies__family(pid);
	double begin = now_seconds(), late;
	long kb = 0;

	for (int i = 0; i < spies.count; i++) {
		kb += memory_kb(spies.pids[i]);
		note_time(cost, spies.pids[i]);
	}
	if (kb > cost->peak_kb)
		cost->peak_kb = kb;
	sleep_seconds(pause_seconds);
	late = now_seconds() - begin - pause_seconds;
	if (late > cost->stall_seconds)
		cost->stall_seconds = late;
}

int64_t spies__time_us(const struct scriptprofile *profile, const char *name, pid_t pid)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	char wanted[128];
	size_t i;

	snprintf(wanted, sizeof(wanted), "%s (pid %d)", name, pid);
	json_array_foreach(categories, i, category)
	{
		json_int_t node = json_integer_value(json_object_get(category, "NodeId"));

		if (!strcmp(json_string_value(json_object_get(category, "Name")), wanted))
			return profile->node_total_us[node];
	}
	return 0;
}
