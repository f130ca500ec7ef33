-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- server.lua FIRST_US SECOND_US [LONG_US]: says "ready", waits for a line, then works 60 us or so and
-- sleeps 30 us, for 1.2 seconds of CPU time. Each piece of work is part_1 and then part_2; with
-- LONG_US, every other one, at random, is part_3 alone. Every eighth is measured: "SPLIT us us us ",
-- times that eight. Then it waits for another line. Run by host, which has the clock and the sleep.

local first_us, second_us, long_us = ...
local cpu_us, sleep_us = cpu_us, sleep_us
local spent = {0, 0, 0}

local function part_1(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_2(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_3(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end

local rounds_per_us = 1e6
do
	local begin = cpu_us()
	part_1(rounds_per_us)
	rounds_per_us = rounds_per_us / (cpu_us() - begin)
end
local first = math.floor(first_us * rounds_per_us)
local second = math.floor(second_us * rounds_per_us)
local long = long_us and math.floor(long_us * rounds_per_us)

-- Lengths are at random, for a timer must not keep step with them.
local function some(rounds)
	return math.floor(rounds * (0.5 + math.random()))
end

local function serve()
	local first, second = some(first), some(second)
	part_1(first)
	part_2(second)
	return 1
end

local function serve_long()
	part_3(some(long))
	return 1
end

local function serve_and_measure()
	local first, second = some(first), some(second)
	local t0 = cpu_us()
	part_1(first)
	local t1 = cpu_us()
	part_2(second)
	local t2 = cpu_us()
	spent[1], spent[2] = spent[1] + t1 - t0, spent[2] + t2 - t1
end

local function serve_long_and_measure()
	local long = some(long)
	local t0 = cpu_us()
	part_3(long)
	spent[3] = spent[3] + cpu_us() - t0
end

print("ready")
io.stdout:flush()
io.read()
local end_us = cpu_us() + 1.2e6
while cpu_us() < end_us do
	for i = 1, 800 do
		local is_long = long and math.random() < 0.5
		if i % 8 == 0 then
			(is_long and serve_long_and_measure or serve_and_measure)()
		else
			(is_long and serve_long or serve)()
		end
		sleep_us(30)
	end
end
print(string.format("SPLIT %.0f %.0f %.0f ", spent[1] * 8, spent[2] * 8, spent[3] * 8))
io.stdout:flush()
io.read()
