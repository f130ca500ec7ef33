# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Over images of memory, at times that the tests make up.

SIDE_BY_SIDE += walk/%
