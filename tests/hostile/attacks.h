/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The attacks. To be included after cmocka.h. */
#ifndef TEST_ATTACKS_H
#define TEST_ATTACKS_H

#include "siege.h"

extern const struct attack attacks[];
extern const int attack_count;

/* Tells the attackers to strike that waited until luaspy knows them. */
void attacks__strike(struct siege *siege);

#endif
