/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/code_point.h"

#include <stddef.h>

/*
 * Unicode 15: General_Category Cc, Zl and Zp; Default_Ignorable_Code_Point
 * (DerivedCoreProperties.txt); and the annotation characters U+FFF9 to U+FFFB (category Cf).
 * Ascending.
 */
static const struct {
	uint32_t first, last;
} misleading[] = {
	{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
	{0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
	{0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
	{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool code_point__misleads(uint32_t code_point)
{
	for (size_t i = 0; i < sizeof(misleading) / sizeof(*misleading); i++)
		if (code_point <= misleading[i].last)
			return code_point >= misleading[i].first;
	return false;
}
