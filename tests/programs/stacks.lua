-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Says its stacks, as debug.getinfo() has them, in the very lines in which they stay as they are:
-- of two coroutines that resumed each other and of the main one, leaf first, after "STACK", and of
-- those that have yielded after "SUSPENDED". Then it waits for a line. A frame is
-- "FRAME what|name|source|line defined|current line".

local function said(info)
	local chunk = info.source:gsub("^[@=]", "")
	local what = info.what == "C" and "C" or "Lua"
	local name = info.name or ""
	if info.linedefined == 0 then name = "main chunk" end
	return ("FRAME %s|%s|%s|%d|%d\n"):format(what, name, chunk, info.linedefined, info.currentline)
end

-- The caller's stack, to be shown by `say` once the program stands still.
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

local suspended, active = {}, {}

local function wait_here(value)
	suspended[#suspended + 1] = stack() coroutine.yield(value)
end

local function deeper(depth)
	if depth > 0 then
		deeper(depth - 1)
		return nil
	end
	wait_here(depth)
	return nil
end

local kept = {}
for depth = 0, 2 do
	local co = coroutine.create(function(a)
		local b = a
		deeper(depth)
		return b
	end)
	assert(coroutine.resume(co, depth))
	kept[#kept + 1] = co
end
local method = {}
function method:step() local stacks = self wait_here(stacks) return nil end
local wrapped = coroutine.wrap(function() method:step() return nil end)
wrapped()
local never = coroutine.create(function() end)
local over = coroutine.wrap(function() end)
over()

local function publish()
	for i = #active, 1, -1 do io.write("STACK\n", active[i]) end
	for _, lines in ipairs(suspended) do io.write("SUSPENDED\n", lines) end
	io.write("ready\n")
	io.flush()
end

local function block()
	active[#active + 1] = stack() publish() return (io.read())
end

local inner = coroutine.create(function()
	local answer = block()
	return answer
end)

local function resume(co)
	active[#active + 1] = stack() return assert(coroutine.resume(co))
end

local outer = coroutine.create(function()
	local answer = resume(inner)
	return answer
end)

local _, answer = resume(outer), kept, never
print(answer)
