-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- views.lua [SECONDS]: says "ready", waits for a line, then does five equal pieces of work, in turns: an
-- application's, its plugin's own, the application's for the plugin, one in a coroutine whose function is
-- called "worker", being global, and one in a coroutine whose function nothing gives a name.

local PIECE = 20000

local function spin(n)
	local x = 0
	for i = 1, n do
		x = (x * 3 + i) % 1000003
	end
	return x
end

local extension = (loadstring or load)([[
local spin = ...
return function(n)
	local x = 0
	for i = 1, n do
		x = (x * 3 + i) % 1000003
	end
	x = x + spin(n)
	return x
end]], "@/srv/app/plugins/extension.lua")(spin)

local function outside(n)
	local x = spin(n)
	return x
end

local function inside(n)
	local x = extension(n)
	return x
end

function worker()
	while true do
		outside(PIECE)
		coroutine.yield()
	end
end

local background = ({function() -- nameless
	while true do
		spin(PIECE)
		coroutine.yield()
	end
end})[1]

print("ready")
io.stdout:flush()
io.read()
local first, second = coroutine.create(worker), coroutine.wrap(background)
local stop = os.clock() + (tonumber((...)) or 60)
while os.clock() < stop do
	outside(PIECE)
	inside(PIECE)
	coroutine.resume(first)
	second()
end
