/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/detection_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "interpreter/family.h"

static void describe(const struct interpreter *interpreter, char *to, size_t size)
{
	const char *release = interpreter->file.release;

	snprintf(to, size, "%s%s%s in %s, %s%s", interpreter->file.family->name,
		 *release ? " " : "", release, interpreter->path,
		 interpreter->file.is_shared_library ? "shared" : "static",
		 interpreter->file.is_stripped ? ", stripped" : "");
}

static void __attribute__((format(printf, 3, 4)))
append(char *to, size_t size, const char *format, ...)
{
	size_t length = strlen(to);
	va_list arguments;

	va_start(arguments, format);
	if (length)
		snprintf(to + length, size - length, "; ");
	length = strlen(to);
	vsnprintf(to + length, size - length, format, arguments);
	va_end(arguments);
}

static void add(struct detection_text *text, const struct interpreter *interpreter)
{
	const struct gc_code *gc = &interpreter->gc;
	char found[512];

	describe(interpreter, found, sizeof(found));
	append(text->found, sizeof(text->found), "%s", found);
	if (gc->is_known)
		append(text->gc, sizeof(text->gc), "%s", gc->how);
	else
		append(text->gc_unknown, sizeof(text->gc_unknown), "%s", gc->how);
}

static void announce(struct announced *announced, const struct interpreter *interpreter,
		     const char *target)
{
	const struct gc_code *gc = &interpreter->gc;
	char found[512];

	describe(interpreter, found, sizeof(found));
	if (!announced || text_list__add(&announced->interpreters, found))
		log_info("%s: %s", target, found);
	log_debug("garbage collector: %s%s", gc->is_known ? "" : "not known, ", gc->how);
}

void detection_text__tell(struct detection_text *text, const struct interpreters *found,
			  const struct interpreters *before, struct announced *announced,
			  const char *target)
{
	*text = (struct detection_text){};
	for (size_t i = 0; i < found->count; i++) {
		const struct interpreter *interpreter = &found->items[i];
		bool is_new = !interpreters__contain(before, interpreter->path);

		if (interpreter__is_profiled(interpreter)) {
			add(text, interpreter);
			if (is_new)
				announce(announced, interpreter, target);
		} else if (is_new && found->profiled) {
			log_warn("%s: also holds %s in %s, which is not supported", target,
				 interpreter->file.family->name, interpreter->path);
		}
	}
	if (found->left_out)
		log_warn("%s: %zu more files with an interpreter are left out", target,
			 found->left_out);
}
