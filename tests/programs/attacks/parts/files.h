/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that attackers make by the thousand. Failures end the program. */
#ifndef ATTACKS_FILES_H
#define ATTACKS_FILES_H

/* Overwrites `to` with the content of `from`; `to` keeps its inode if it exists. */
void files__copy(const char *from, const char *to);

/* Maps the whole file as code. Returns the address, for munmap() of *size bytes. */
void *files__map(const char *path, unsigned long *size);

/* Maps the file as code for a moment. */
void files__show(const char *path);

#endif
