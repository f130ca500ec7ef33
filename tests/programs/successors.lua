-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Loads chunks of one size that replace each other, each after 50 ms, so that the functions of one
-- lie where those of another lay. Below the main chunk, all functions of a stack are of one chunk.

local TEXT = [[
local function work(n)
	local sum = 0
	for i = 1, n do sum = (sum * 31 + i) %% 65521 end
	return sum
end
local function middle(n)
	local sum = work(n)
	return sum + 1
end
local function outer(n)
	local sum = middle(n)
	return sum + 1
end
local name%02d = 1
return outer
]]

local texts, names = {}, {}
for i = 0, 49 do
	texts[i], names[i] = TEXT:format(i), ("=chunk%02d"):format(i)
end

local compile = loadstring or load
local clock = os.clock
local number = 0

print("ready")
io.stdout:flush()
while true do
	number = (number + 1) % 50
	local outer = compile(texts[number], names[number])()
	local stop = clock() + 0.05
	while clock() < stop do outer(20000) end
	outer = nil
	collectgarbage()
	collectgarbage()
end
