/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_DEFINITION_NAME_H
#define LS_DEFINITION_NAME_H

#define DEFINITION_NAME_SIZE 256 /* with its NUL; a definition with a longer name has none */

#endif
