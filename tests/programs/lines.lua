-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- lines.lua [SECONDS]: says "ready", waits for a line, then works in loops of arithmetic, of which one
-- line costs more than the others together, for a minute.

local function work(n)
	local x, y = 0, 0.5
	for i = 1, n do
		x = x + i
		y = y * 1.000001
		x = (x * 3 + i * 5 - x * 2 - i * 4 + x * 7 - i * 9) % 1000 + (x - i) * 2 - (x + i) / 3 + x * 2 - i -- hot
		y = y - x
		if x > 1e300 then
			y = 0.5 -- never
		end
	end
	return x, y
end

local function caller()
	local x

	x = work(100000) -- calls
	return x
end

print("ready")
io.stdout:flush()
io.read()
local stop = os.clock() + (tonumber((...)) or 60)
while os.clock() < stop do
	caller()
end
