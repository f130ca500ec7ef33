-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Generators that feed each other, three deep, and a hundred short-lived coroutines taking turns.
local units = require("units")

local function numbers(count)
	return coroutine.wrap(function()
		for i = 1, count do
			coroutine.yield(i)
		end
	end)
end

local function filter(keep, from)
	return coroutine.wrap(function()
		for value in from do
			if keep(value) then
				coroutine.yield(value)
			end
		end
	end)
end

local function pipeline()
	local odd = filter(function(n) return n % 2 == 1 end, numbers(3000))
	local sum = 0
	for value in filter(function(n) return n % 3 ~= 0 end, odd) do
		sum = sum + value
	end
	return sum
end

local function task(turns)
	local sum = 0
	for i = 1, turns do
		for j = 1, 20 do
			sum = (sum + i * j) % 65521
		end
		coroutine.yield()
	end
end

local function scheduler()
	local tasks = {}
	for i = 1, 100 do
		tasks[i] = coroutine.create(task)
	end
	while #tasks > 0 do
		for i = #tasks, 1, -1 do
			coroutine.resume(tasks[i], 20)
			if coroutine.status(tasks[i]) == "dead" then
				table.remove(tasks, i)
			end
		end
	end
end

units.forever(function()
	pipeline()
	scheduler()
end)
