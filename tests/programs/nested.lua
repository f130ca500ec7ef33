-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Goes 300 calls deep, in all ways in which a function may come to run, says them as debug.getinfo()
-- has them, but for the name of an iterator ("STACK", then a line for each frame as stacks.lua
-- writes them, then "ready"), and waits for a line. An argument "warm" makes it do all that a
-- thousand times before, less deep.
local DEPTH = 300

local function said(info)
	local chunk = info.source:gsub("^[@=]", "")
	local what = info.what == "C" and "C" or "Lua"
	local name = info.name or ""
	if info.linedefined == 0 then name = "main chunk" end
	-- Called after what holds it.
	if name == "(for generator)" or name == "for iterator" then name = "iterate" end
	return ("FRAME %s|%s|%s|%d|%d\n"):format(what, name, chunk, info.linedefined, info.currentline)
end

local function stack()
	local lines, level = {}, 2
	while true do
		local info = debug.getinfo(level, "nSl")
		if not info then break end
		if info.what ~= "tail" then lines[#lines + 1] = said(info) end
		level = level + 1
	end
	return table.concat(lines)
end

local wait = function() io.write("STACK\n", stack(), "ready\n") io.flush() return (io.read()) end
local depth = DEPTH
local step
local object, meta = {}, {}

function object.field(n) step(n) return nil end
function object:method(n) self.field(n) return nil end
function global(n) step(n) return nil end
function meta.__index(_, n) step(n) return nil end
function meta.__newindex(_, n) step(n) return nil end
function meta.__add(_, n) step(n) return 0 end
function meta.__concat(n) step(n) return "" end
function meta.__eq(one) step(one.n) return true end
function meta.__lt(one) step(one.n) return true end
function meta.__call(_, n) step(n) return nil end
function meta.__unm(one) step(one.n) return 0 end
local special = setmetatable({}, meta)

local function various(...)
	local n = ...
	step(n)
	return ...
end

local function iterate(n, last) if last then return nil end step(n) return nil end
local function compare(n) return function() step(n) return false end end
local function tail(n) return object.field(n) end

local ways = {
	function(n) step(n) return nil end,
	function(n) object.field(n) return nil end,
	function(n) object:method(n) return nil end,
	function(n) global(n) return nil end,
	function(n) local value = special[n] return value end,
	function(n) special[n] = n return nil end,
	function(n) local value = special + n return value end,
	function(n) local value = n .. special return value end,
	function(n)
		local one = setmetatable({n = n}, meta)
		local value = one == setmetatable({n = n}, meta)
		return value
	end,
	function(n)
		local one = setmetatable({n = n}, meta)
		local value = one < setmetatable({n = n}, meta)
		return value
	end,
	function(n) special(n) return nil end,
	function(n) local value = -setmetatable({n = n}, meta) return value end,
	function(n) local value = various(n, n, n) return value end,
	function(n) for _ in iterate, n do return nil end end,
	function(n) pcall(function() step(n) end) return nil end,
	function(n) xpcall(function() step(n) end, print) return nil end,
	function(n) table.sort({1, 2}, compare(n)) return nil end,
	function(n) local text = ("a"):gsub("a", function() step(n) end) return text end,
	function(n) tail(n) return nil end,
}

function step(n)
	if depth > 30 and debug.getinfo(depth, "l") then wait() return nil end
	if n > depth then return nil end
	local way = ways[n % #ways + 1]
	way(n + 1)
	return nil
end

if arg[1] == "warm" then
	depth = 30
	for _ = 1, 1000 do step(0) end
	depth = DEPTH
end
step(0)
