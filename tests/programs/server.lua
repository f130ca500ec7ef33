-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- server.lua WAKING_US FIRST_US SECOND_US [LONG_US]: says "ready", waits for a line, then works and
-- sleeps 30 us in turn, for 1.2 seconds of CPU time. Each piece of work is waking, part_1 and then
-- part_2; with LONG_US, every other one, at random, is waking and then part_3. Then it says
-- "SPLIT us us us ", of the parts, and waits for another line. Run by host, which has the clock and
-- the sleep.
--
-- A clock that is read in each piece would change how it is charged. So the split is that of rounds
-- of one loop, which take the same time in each part.

local waking_us, first_us, second_us, long_us = ...
local cpu_us, sleep_us = cpu_us, sleep_us
local spent = {0, 0, 0}

local function waking(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_1(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_2(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_3(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end

local rounds_per_us = 1e6
do
	local begin = cpu_us()
	part_1(rounds_per_us)
	rounds_per_us = rounds_per_us / (cpu_us() - begin)
end

-- Lengths are at random, for a timer must not keep step with them.
local function some(us)
	return math.floor(us * rounds_per_us * (0.5 + math.random()))
end

local function serve()
	local first, second = some(first_us), some(second_us)
	spent[1], spent[2] = spent[1] + first, spent[2] + second
	waking(some(waking_us))
	part_1(first)
	part_2(second)
	return 1
end

local function serve_long()
	local long = some(long_us)
	spent[3] = spent[3] + long
	waking(some(waking_us))
	part_3(long)
	return 1
end

print("ready")
io.stdout:flush()
io.read()
local end_us = cpu_us() + 1.2e6
while cpu_us() < end_us do
	for i = 1, 500 do
		(long_us and math.random() < 0.5 and serve_long or serve)()
		sleep_us(30)
	end
end
for i = 1, 3 do
	spent[i] = spent[i] / rounds_per_us
end
print(string.format("SPLIT %.0f %.0f %.0f ", spent[1], spent[2], spent[3]))
io.stdout:flush()
io.read()
