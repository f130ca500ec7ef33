-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- chunks.lua own|text|alike|large RATE: loads that many chunks a second of CPU time, runs each for as
-- long as that takes and leaves it to the collector. Chunk N defines functions whose lines and names
-- say N, so that what a profile has of them can be checked: render_N on line N % 200 + 1, and each_N,
-- which it calls, on the next; both call shared_helper. own: the chunk is called tN. text: it has no
-- name but its text, of some kilobytes, which begins like all others. alike: as own, but all lines
-- and sizes are the same. large: as own, with many local variables before the one that matters.
-- "READY", then "CHUNKS n seconds" every second.

local mode, rate = arg[1], tonumber(arg[2])
local compile = loadstring or load
local clock = os.clock
local before = ""
if mode == "text" then
	before = string.rep("-- a comment that all of these chunks begin with\n", 60)
end
local locals = ""
for i = 1, mode == "large" and 40 or 0 do
	locals = locals .. "local v" .. i .. " = 'N" .. i .. "' "
end
local newlines = {}
for line = 0, 199 do
	newlines[line] = string.rep("\n", mode == "alike" and 0 or line)
end

function shared_helper(n)
	local x = 0
	for i = 1, n do
		x = x + i % 7
	end
	return x
end

local template = [[local function render_N(n) local s = 0 for i = 1, n do s = s + i % 5 end LOCALS
local function each_N(n) for i = 1, n do s = s + i % 3 end return s end
local r = each_N(n) + 1 return r end
local r = render_N(...)
r = r + shared_helper(...)
return r]]
template = template:gsub("LOCALS", locals)

local function run_chunk(n, work)
	local id = string.format("%07d", n)
	local text = before .. newlines[n % 200] .. template:gsub("N", id)
	local f = assert(compile(text, mode ~= "text" and "=t" .. id or nil))
	return f(work)
end

local done = 0
local function round(count, work)
	local begin = clock()
	for _ = 1, count do
		done = done + 1
		run_chunk(done, work)
	end
	return clock() - begin
end

local count = math.max(10, math.floor(rate / 20))
local function fastest_round(work)
	local best = math.huge
	for _ = 1, 8 do
		best = math.min(best, round(count, work))
	end
	return best
end

-- How much work makes the rate: time is about linear in it.
local base = fastest_round(1)
local per_unit = math.max(fastest_round(1 + 200) - base, 1e-6) / count / 200
local work = math.max(1, math.floor((1 / rate - base / count) / per_unit))
print("READY")
io.stdout:flush()
local begin, first = clock(), done
while true do
	round(count, work)
	if clock() - begin >= 1 then
		print(string.format("CHUNKS %d %.3f", done - first, clock() - begin))
		io.stdout:flush()
		begin, first = clock(), done
	end
end
