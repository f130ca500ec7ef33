/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Derives the layout of a VM from the memory of its process. */
#include <errno.h>

#include "interpreter/inspection_internal.h"
#include "process/target_memory.h"

/* ---- in the worker */

int handle_calibrate(struct inspection *inspection, pid_t pid, struct message *request,
		     struct message *answer)
{
	const struct family *family =
		families__get((uint32_t)message__take_number(request, LS_FAMILY_COUNT - 1));
	struct target_memory memory = {.pid = pid, .pages = inspection->pages};
	uint64_t state = message__take_number(request, UINT64_MAX);
	_Alignas(8) uint8_t offsets[LAYOUT_OFFSETS_MAX];
	char reason[CALIBRATION_REASON_SIZE] = "";
	int error = message__end(request);

	if (!error && !family->calibrate)
		error = -ENOTSUP;
	/* Hundreds of objects in a few dozen pages are read. */
	page_cache__clear(inspection->pages);
	if (!error)
		error = family->calibrate(&memory, state, offsets, reason, sizeof(reason));
	if (error && error != -ENODATA)
		return error;
	message__put_number(answer, !error);
	message__put_text(answer, reason);
	if (!error)
		message__put(answer, offsets, family->offsets_size);
	return 0;
}

/* ---- in luaspy */

int inspector__calibrate(struct inspector *inspector, pid_t pid, const struct family *family,
			 uint64_t state, struct calibrated *calibrated)
{
	struct message *answer, *request;
	bool is_derived;
	int error;

	request = inspector__request(inspector, INSPECTOR_MEMORY, INSPECT_CALIBRATE, pid);
	message__put_number(request, family->id);
	message__put_number(request, state);
	error = inspector__ask(inspector, &answer);
	if (error)
		return error;
	is_derived = message__take_number(answer, 1);
	message__take_text_into(answer, calibrated->reason, sizeof(calibrated->reason));
	if (is_derived)
		message__take(answer, calibrated->offsets, family->offsets_size);
	error = message__end(answer);
	return !error && !is_derived ? -ENODATA : error;
}
