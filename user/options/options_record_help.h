/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The help of `luaspy record`, and the numbers in it. */
#ifndef LS_OPTIONS_RECORD_HELP_H
#define LS_OPTIONS_RECORD_HELP_H

#define RECORD_FREQUENCY    1000 /* Hz */
#define RECORD_DEPTH        512  /* frames */
#define RECORD_TREE_DEFAULT 8    /* calls deep */
#define RECORD_TREE_MAX     512

/* As output_choice__print_help() takes it. */
extern const char options_record_help[];

#endif
