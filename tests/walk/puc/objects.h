/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The objects of an image of PUC Lua: strings, prototypes and closures, as each release has them.
 */
#ifndef TEST_OBJECTS_H
#define TEST_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include "image.h"

#define IMAGE_TABLE 5 /* LUA_TTABLE */

/* Each of these makes an object and returns its address. */

/* Of that type, which is all that is read of it. */
uint64_t image__object(struct image *image, size_t size, uint8_t type);

uint64_t image__string(struct image *image, const char *text, size_t length);
uint64_t image__proto(struct image *image, const char *source, uint32_t line);
uint64_t image__lua_closure(struct image *image, uint64_t proto);
uint64_t image__c_closure(struct image *image, uint64_t function);

/* Replaces the string of constant `at`, as in a prototype whose memory was recycled. */
void image__set_constant(struct image *image, uint64_t proto, size_t at, uint64_t string);

#endif
