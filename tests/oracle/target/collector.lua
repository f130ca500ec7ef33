-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Keeps the collector busy in one of several ways, for ever.
local way = ...
local ways = {}
local kept = {}

local function spin(count)
	local sum = 0
	for i = 1, count do sum = (sum * 3 + i) % 1000003 end
	return sum
end

-- Not one allocation, but C functions, metamethods and tables that are written to.
function ways.nothing()
	local values, proxy = {}, setmetatable({}, {__index = function(_, key) return key end})
	local floor, byte, rawget, select = math.floor, string.byte, rawget, select
	for i = 1, 100 do values[i] = i end
	return function()
		for i = 1, 100 do
			values[i] = floor(values[i] + proxy[i]) % 1000 + byte("x") + (rawget(values, i) or 0)
			values[i] = values[i] % select("#", i, i, i)
		end
	end
end

local function node(depth)
	if depth == 0 then return {} end
	return {node(depth - 1), node(depth - 1), tostring(depth)}
end

function ways.tables()
	kept.tree = node(10)
	return function()
		node(6)
		spin(3000)
	end
end

-- Blocks of many sizes, which the allocator joins and gives back.
function ways.strings()
	return function()
		local parts = {}
		for i = 1, 50 do parts[i] = string.rep("x", i * 37) .. i end
		table.concat(parts)
		spin(5000)
	end
end

-- Calls of C that call Lua leave return addresses behind where the collector's frames come to lie.
function ways.calls()
	local function compare(a, b) spin(2); return a > b end
	local function replace(word) return word .. "x" end
	return function()
		local values = {}
		for i = 1, 20 do values[i] = i * 7 % 11 end
		table.sort(values, compare)
		pcall(node, 4)
		string.gsub("a bc def", "%a+", replace)
		coroutine.wrap(function() for i = 1, 3 do coroutine.yield(node(2)) end end)()
		spin(500)
	end
end

-- "collect" from script, besides steps of its own.
function ways.full()
	kept.tree = node(8)
	return function()
		node(5)
		collectgarbage()
		collectgarbage("count")
		collectgarbage("step")
		spin(20000)
	end
end

local function finalized(finalizer)
	if newproxy then
		local proxy = newproxy(true)
		getmetatable(proxy).__gc = finalizer
		return proxy
	end
	return setmetatable({}, {__gc = finalizer})
end

-- More time in finalizers than in the collector.
function ways.finalizers()
	local function finalizer() spin(300); string.byte("x"); pcall(spin, 50) end
	return function()
		for _ = 1, 10 do finalized(finalizer) end
		spin(1000)
	end
end

function ways.finalizers_in_c()
	return function()
		for _ = 1, 10 do finalized(work) end
		spin(1000)
	end
end

-- Destructors in C, which the collector of Luau calls while it sweeps: they are part of it.
function ways.destructors()
	return function()
		for _ = 1, 10 do destroyed() end
		spin(1000)
	end
end

function ways.generational()
	kept.tree = node(10)
	collectgarbage("generational")
	return ways.tables()
end

local turn = ways[way]()
ready()
while true do turn() end
