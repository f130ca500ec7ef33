-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- As depth10, on a coroutine, while ten thousand others wait.
local units = require("units")
local descend = units.tower(6, units.leaf)
local sleepers = {}

for i = 1, 10000 do
	sleepers[i] = coroutine.wrap(function()
		descend(1)
		coroutine.yield(i)
	end)
	sleepers[i]()
end

coroutine.wrap(units.forever)(function()
	for _ = 1, 60 do
		descend(1500)
	end
end)
