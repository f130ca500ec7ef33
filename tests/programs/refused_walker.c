/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * To be preloaded: the BPF object REFUSED_OBJECT cannot be loaded, as if the kernel's verifier
 * refused it. Others can.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct bpf_object;

extern const char *bpf_object__name(const struct bpf_object *object);

int bpf_object__load(struct bpf_object *object)
{
	int (*really)(struct bpf_object *);
	const char *refused = getenv("REFUSED_OBJECT");

	if (refused && !strcmp(bpf_object__name(object), refused)) {
		errno = EINVAL;
		return -EINVAL;
	}
	*(void **)&really = dlsym(RTLD_NEXT, "bpf_object__load");
	return really(object);
}
