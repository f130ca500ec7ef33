-- Runs forever, one kind of work as its argument says. Lines are short, so that a pc that is off by
-- a few instructions is off by a line.

local kind = ...
local floor, sqrt, fmod = math.floor, math.sqrt, math.fmod

local works = {}

function works.arithmetic()
	local a, b, c, x = 1, 2, 3, 0.5
	for i = 1, 20000 do
		a = a + i
		b = b - a
		c = c * 3
		x = x * 1.5
		c = c - 2
		x = x + a
		b = a - b
		x = x - b
		x = x / 2
		a = i
		b = -a
	end
	return a + b + c + x
end

function works.branches()
	local a, b, c, x = 1, 2, 3, 0.5
	for i = 1, 20000 do
		if c > 100000 then
			c = 1
		else
			c = c + 1
		end
		x = x * 1.5
		if x > 1e100 then
			x = 0.5
		end
		b = -i
	end
	local n = 20000
	while n > 0 do
		a = n
		b = a + n
		x = b / 3
		n = n - 1
	end
	return a + b + c + x
end

-- Much of it is in functions that luaV_execute calls, in the C library or in the collector.
function works.helpers()
	local t, s = {x = 1, y = 2}, "s"
	local x, m = 0.5, 7
	for i = 1, 3000 do
		t.x = t.y
		t.y = i
		t[i % 16] = i
		x = t[i % 16]
		x = i ^ 0.7
		x = x ^ 1.3
		m = i % 7.5
		m = -i % 13
		s = "k" .. (i % 4)
		t[s] = m
		m = t[s]
		t = {x = t.x, y = t.y}
		local f = function()
			return m + i
		end
		x = #s
		if s == "k1" then
			x = 1
		end
		if s < "k2" then
			x = 2
		end
		m = not x
		x = (1 + i) / 7
	end
	return x, t
end

local Vector = {}
Vector.__index = Vector
Vector.__add = function(a, b)
	return setmetatable({
		x = a.x + b.x,
		y = a.y + b.y,
	}, Vector)
end

-- Two that call each other: a call or a return always changes the function.
local odd

local function even(n)
	if n < 2 then
		return n
	end
	local a = odd(n - 1)
	local b = odd(n - 2)
	return a + b
end

function odd(n)
	if n < 2 then
		return n
	end
	local a = even(n - 1)
	local b = even(n - 2)
	return a + b
end

local function pass(...)
	return ...
end

function works.calls()
	local v = setmetatable({x = 1, y = 2}, Vector)
	local x = 1
	for i = 1, 200 do
		v = v + v
		x = floor(i / 3)
		x = sqrt(x + 1)
		x = fmod(x, 3)
		x = pass(x, i)
		x = select("#", x, i)
		x = ("x"):rep(3)
		x = even(8)
		for k, w in pairs(v) do
			x = w
			v[k] = 1
		end
		pcall(even, 3)
		local co = coroutine.wrap(function(a)
			local b = coroutine.yield(a + 1)
			return b
		end)
		x = co(1)
		x = co(2)
	end
	return x
end

while true do
	works[kind]()
end
