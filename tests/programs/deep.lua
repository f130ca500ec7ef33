-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- deep.lua DEPTH: works at the end of a recursion of that depth.

local depth = tonumber((...))

local function bottom()
	local x = 0
	for i = 1, 1e5 do
		x = x + i % 7
	end
	return x
end

local function descend(n)
	if n == 0 then
		while true do
			bottom()
		end
	end
	return 1 + descend(n - 1)
end

local function top()
	return 1 + descend(depth)
end

print("ready")
io.stdout:flush()
top()
