/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions for AArch64 whose return addresses are signed with key B; see test_eh_frame.c. */

int leaf(int number)
{
	return number * 3;
}

int caller(int number)
{
	volatile char buffer[200];

	buffer[number] = 1;
	return leaf(number) + buffer[0];
}
