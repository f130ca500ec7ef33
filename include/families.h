/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The families of interpreters whose scripts are profiled. X(NAME, name) is one: LS_FAMILY_NAME is
 * its number, family_name (user/name/family_name.c) all else that is known of it.
 */
#ifndef LS_FAMILIES_H
#define LS_FAMILIES_H

/* Those that a build adds: make FURTHER=... */
#ifndef LS_FURTHER_FAMILIES
#define LS_FURTHER_FAMILIES(X)
#endif

#define LS_FAMILIES(X)                                                                             \
	X(PUC, puc) X(LUAJIT, luajit) X(LUAJIT32, luajit32) X(LUAU, luau) LS_FURTHER_FAMILIES(X)

#endif
