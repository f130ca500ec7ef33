-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Depth 2 or 3: the main chunk, a loop, a small function that it calls all the time.
local units = require("units")

local function step(sum, i)
	return (sum * 31 + i) % 65521
end

units.forever(function()
	local sum = 0
	for i = 1, 60000 do
		sum = step(sum, i)
	end
	return sum
end)
