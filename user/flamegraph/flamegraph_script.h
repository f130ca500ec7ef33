/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every flame graph has: its colours, and what a click and Ctrl-F do. */
#ifndef LS_FLAMEGRAPH_SCRIPT_H
#define LS_FLAMEGRAPH_SCRIPT_H

extern const char flamegraph_style[];
extern const char flamegraph_script[];

#endif
