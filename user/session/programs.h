/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs, in the form that the running kernel takes: those for Linux 6.1 and later or,
 * where the kernel refuses these, those for older ones (bpf/repeat.bpf.h).
 */
#ifndef LS_PROGRAMS_H
#define LS_PROGRAMS_H

struct luaspy_bpf;
struct sampler_options;

/*
 * Loads the programs and makes them ready to sample, attached to nothing yet. 0, and the caller
 * frees *programs with luaspy_bpf__destroy(); or -errno, which load_failure__explain() explains,
 * and *programs is NULL.
 */
int programs__load(const struct sampler_options *options, struct luaspy_bpf **programs);

#endif
