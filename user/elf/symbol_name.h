/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the author of a C++ or Rust program called the function that a symbol stands for. */
#ifndef LS_SYMBOL_NAME_H
#define LS_SYMBOL_NAME_H

/*
 * Returns "Mob::l_think" for _ZN3Mob7l_thinkEP9lua_State: without the suffixes that compilers add,
 * and without the argument that every lua_CFunction has. NULL: `symbol` is not mangled or too long,
 * luaspy was built without a demangler, or memory ran out. The caller frees it.
 */
char *symbol_name__demangle(const char *symbol);

#endif
