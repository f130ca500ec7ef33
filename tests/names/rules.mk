# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Whoever is asked for a name here stands still.

SIDE_BY_SIDE += names/%
