-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Nearly always 10 functions deep: the main chunk, the loop, the unit, the tower and its leaf.
local units = require("units")
local descend = units.tower(6, units.leaf)

units.forever(function()
	for _ = 1, 60 do
		descend(1500)
	end
end)
