/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the author of a C++ or Rust program called the function that a symbol stands for. */
#ifndef LS_SYMBOL_NAME_H
#define LS_SYMBOL_NAME_H

/*
 * "Mob::l_think" for _ZN3Mob7l_thinkEP9lua_State: without what compilers add, and without the
 * argument that every function for Lua has. NULL: `symbol` is a name already, is too long, or
 * luaspy was built without a demangler. The caller frees it.
 */
char *symbol_name__demangle(const char *symbol);

#endif
