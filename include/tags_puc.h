/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tags of values and objects of PUC Lua, by the names of lua.h and lobject.h; the same from 5.1 to
 * 5.5 unless a comment says otherwise. A tag is a type (LUA_T*) and, since 5.2, which variant of it
 * (LUA_V*). In a value it also tells whether the value is an object of the garbage collector.
 */
#ifndef LS_TAGS_PUC_H
#define LS_TAGS_PUC_H

#define LS_TYPE_NIL      0
#define LS_TYPE_BOOLEAN  1
#define LS_TYPE_NUMBER   3
#define LS_TYPE_STRING   4 /* lower types are no objects of the garbage collector */
#define LS_TYPE_TABLE    5
#define LS_TYPE_FUNCTION 6
#define LS_TYPE_THREAD   8
#define LS_TYPE_LAST     11 /* one more than any release has */

/* LUA_TPROTO, which no value has */
#define LS_TYPE_PROTO_TO_5_3    9
#define LS_TYPE_PROTO_SINCE_5_4 10

#define LS_TYPE(tag)                ((tag)&15)                /* novariant() */
#define LS_VARIANT(type, variant)   ((type) | (variant) << 4) /* makevariant() */
#define LS_COLLECTABLE              64                        /* BIT_ISCOLLECTABLE, since 5.2 */
#define LS_WITHOUT_COLLECTABLE(tag) ((tag)&63)                /* withvariant() */

#define LS_TAG_LONG_STRING    LS_VARIANT(LS_TYPE_STRING, 1)   /* LUA_VLNGSTR, since 5.2.1 */
#define LS_TAG_LUA_FUNCTION   LS_VARIANT(LS_TYPE_FUNCTION, 0) /* LUA_VLCL */
#define LS_TAG_LIGHT_FUNCTION LS_VARIANT(LS_TYPE_FUNCTION, 1) /* LUA_VLCF, since 5.2 */
#define LS_TAG_C_FUNCTION     LS_VARIANT(LS_TYPE_FUNCTION, 2) /* LUA_VCCL, since 5.2.1 */

#define LS_TVALUE_TAG 8 /* where a TValue has its tag, */
#define LS_OBJECT_TAG 8 /* and any object: GCObject.tt, behind `next` */

#endif
