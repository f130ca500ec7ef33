# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A median and how well it is known."""

import math
import statistics

ROUNDS_MIN = 6  # values, of which the sign test can make a 95% interval


class Interval:
    """The median of `values`, and the 95% interval that the sign test gives for it, which supposes
    nothing about how the noise is distributed. Of too few values it takes the extremes."""

    def __init__(self, values):
        values = sorted(values)
        count = len(values)
        outside = 0
        while 2 * sum(math.comb(count, i) for i in range(outside + 1)) / 2**count <= 0.05:
            outside += 1
        outside = max(outside - 1, 0)
        self.median = statistics.median(values)
        self.low = values[outside]
        self.high = values[-1 - outside]

    def format(self, digits=3, scale=1):
        low, middle, high = (f"{x / scale:.{digits}f}" for x in (self.low, self.median, self.high))
        return f"{middle} [{low}, {high}]"
