/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that workers must not open, because one that did never answered. A worker notes which file
 * it is about to open in memory that it shares with luaspy, so that luaspy knows which one to add.
 * Files are known by device and inode, whichever process maps them.
 */
#ifndef LS_QUARANTINE_H
#define LS_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

/* Maps the shared memory; call this before workers start. 0, or -errno: no file is ever added. */
int quarantine__share(void);

/* The worker calls these before it opens a file and when it has closed it. */
void quarantine__enter(uint64_t device, uint64_t inode);
void quarantine__leave(void);

/* Whether the file is in quarantine. */
bool quarantine__holds(uint64_t device, uint64_t inode);

/*
 * Luaspy calls this when a worker did not answer: adds the file that the worker had open. False: it
 * had none open.
 */
bool quarantine__add_current(void);

#endif
