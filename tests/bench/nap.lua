-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Sleeps, but for a unit of work on each byte that comes in: of many that share an input one works.
local units = require("units")
local descend = units.tower(6, units.leaf)

io.stdin:setvbuf("no") -- else it takes the bytes that are for others
while io.read(1) do
	for _ = 1, 60 do
		descend(1500)
	end
end
