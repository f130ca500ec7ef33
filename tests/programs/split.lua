-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- split.lua CHUNK_US SHARE...: says "ready", waits for a line, then works for two seconds of CPU
-- time in part_1, part_2 ... in these shares, in pieces of about CHUNK_US; or, with 0, in turns, in
-- pieces of 10 us for each percent. Then it says how much it measured ("SPLIT us us ...") and waits
-- for another line.

local chunk_us = tonumber((...))
local shares, planned, spent = {select(2, ...)}, {}, {}
local clock = os.clock

local function part_1(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_2(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_3(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local function part_4(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local calls = {
	function(n) part_1(n) return 1 end,
	function(n) part_2(n) return 1 end,
	function(n) part_3(n) return 1 end,
	function(n) part_4(n) return 1 end,
}

for i = 1, #shares do
	shares[i], planned[i], spent[i] = tonumber(shares[i]) / 100, 0, 0
end

local rounds_per_us = 1e6
do
	local begin = clock()
	part_1(rounds_per_us)
	rounds_per_us = rounds_per_us / ((clock() - begin) * 1e6)
end

-- The one that is behind most, by what was planned: by what its clock says the script would react to
-- the interrupts of who samples it, and 15% would be sampled as 14.3%.
local function next_part(all)
	local best, most = 1, -math.huge
	for i = 1, #shares do
		local behind = all * shares[i] - planned[i]
		if behind > most then
			best, most = i, behind
		end
	end
	return best
end

local function work(seconds)
	local all, all_planned, turn = 0, 0, 0
	while all < seconds do
		local i, us = nil, chunk_us
		if chunk_us > 0 then
			i = next_part(all_planned)
		else
			turn = turn % #shares + 1
			i, us = turn, shares[turn] * 1000
		end
		us = us * (0.5 + math.random()) -- a timer must not keep step with it
		local n = math.floor(rounds_per_us * us)
		local begin = clock()
		calls[i](n)
		local took = clock() - begin
		planned[i], all_planned = planned[i] + us, all_planned + us
		spent[i], all = spent[i] + took, all + took
	end
end

print("ready")
io.stdout:flush()
io.read()
work(2)
for i = 1, #spent do
	spent[i] = string.format("%.0f", spent[i] * 1e6)
end
print("SPLIT " .. table.concat(spent, " ") .. " ")
io.stdout:flush()
io.read()
