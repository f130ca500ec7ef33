-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Coroutines that yield in one of two places, of which each is called from a line of its own, and
-- are resumed all the time; "ready", once they all are about. Each also makes garbage.
local function one() coroutine.yield({}) return nil end -- line 5
local function two() coroutine.yield({}) return nil end -- line 6

local function turn()
	one() -- line 9
	two() -- line 10
	return nil
end

local coroutines = {}
for i = 1, 100 do
	coroutines[i] = coroutine.wrap(function() while true do turn() end end)
	coroutines[i]()
end
io.write("ready\n")
io.flush()
while true do
	for i = 1, #coroutines do coroutines[i]() end
end
