/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What must hold of every profile that a reader makes, whatever the file. */
#ifndef FUZZ_PROFILE_CHECKS_H
#define FUZZ_PROFILE_CHECKS_H

#include "profile/profile.h"

/* Its ids are in range and parents come first; it is read again as it is written; and all formats
 * can be written of it. Else this is a crash for libFuzzer.
 */
void profile_checks__hold(const struct ls_profile *profile);

#endif
