-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Works for a second and a half of CPU time, then becomes a program without Lua.

local function before()
	local x = 0
	for i = 1, 1e5 do
		x = x + i
	end
	return x
end

while os.clock() < 1.5 do
	before()
end
become("sleep", "100")
