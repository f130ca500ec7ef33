-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Says "ready", waits for a line, then works and collects garbage in turns for two seconds of CPU
-- time, and collects at no other time. Then it says how long it collected and how long it worked, in
-- microseconds ("GC us us"), and waits for another line.

local clock = os.clock
local kept = {}

collectgarbage("stop")
for i = 1, 2e4 do
	kept[i] = {i, {}}
end

local function work(n)
	local x = 0
	for i = 1, n do
		x = x + i % 7
	end
	return x
end

local function take_turns(seconds)
	local collecting, working = 0, 0
	while collecting + working < seconds do
		local begin = clock()
		work(2e5 * (0.5 + math.random()))
		local middle = clock()
		collectgarbage("collect")
		collectgarbage("stop")
		working, collecting = working + middle - begin, collecting + clock() - middle
	end
	return collecting, working
end

print("ready")
io.stdout:flush()
io.read()
local collecting, working = take_turns(2)
print(string.format("GC %.0f %.0f ", collecting * 1e6, working * 1e6))
io.stdout:flush()
io.read()
