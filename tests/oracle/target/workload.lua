-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Changes its stack in every way that Lua has, and says so (module.c). Every function tells where
-- it is first, and that it leaves last. The argument: turns of the loop that each function idles
-- in between two transitions and, where not all phases are wanted, the name of one ("3 growing").
if jit then jit.off() end
local steps, only_phase = string.match((...), "^(%d+) ?(.*)$")
steps = tonumber(steps)
local oracle = require "oracle"

local here, calls, leaves, tails = oracle.here, oracle.calls, oracle.leaves, oracle.tails
local throws, resumes, yields = oracle.throws, oracle.resumes, oracle.yields
local segment, line = oracle.segment, oracle.line
local create, resume, yield, wrap = coroutine.create, coroutine.resume, coroutine.yield, coroutine.wrap
local can_yield_across_calls = _VERSION ~= "Lua 5.1"
local is_luau = _VERSION == "Luau" -- it has neither tail calls nor hooks

local at = {} -- functions' words
local phases = {}

---- plain calls

local function leaf(frames)
	here(at.leaf)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(frames)
	return x
end
at.leaf = line(leaf)

local function with_arguments(...)
	here(at.with_arguments)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(1)
	return ...
end
at.with_arguments = line(with_arguments)

local function branch(frames)
	here(at.branch)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	calls(at.leaf)
	x = leaf(1)
	here(at.branch)
	calls(at.with_arguments)
	with_arguments(1, 2, 3, x)
	here(at.branch)
	leaves(frames)
end
at.branch = line(branch)

function phases.plain()
	here(at.plain)
	for _ = 1, 10 do
		calls(at.branch)
		branch(1)
		here(at.plain)
		calls(at.leaf)
		leaf(1)
		here(at.plain)
	end
	leaves(1)
end

local function dig(depth)
	here(at.dig)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	if depth > 0 then
		calls(at.dig)
		dig(depth - 1)
		here(at.dig)
	end
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(1)
end
at.dig = line(dig)

function phases.recursion()
	here(at.recursion)
	calls(at.dig)
	dig(60)
	here(at.recursion)
	leaves(1)
end

---- protected calls and errors

local function throw()
	here(at.throw)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	throws(3, error)
	error("thrown")
end
at.throw = line(throw)

local function call_thrower()
	here(at.call_thrower)
	calls(at.throw)
	throw()
end
at.call_thrower = line(call_thrower)

local function fail()
	here(at.fail)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	throws(2)
	return x + nil
end
at.fail = line(fail)

-- On top of throw, call_thrower and xpcall.
local function handle()
	here(at.handle)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	throws(5, true)
	return x
end
at.handle = line(handle)

local function throw_to_handler()
	here(at.throw_to_handler)
	calls(error, at.handle)
	error("thrown")
end
at.throw_to_handler = line(throw_to_handler)

local function call_to_handler()
	here(at.call_to_handler)
	calls(at.throw_to_handler)
	throw_to_handler()
end
at.call_to_handler = line(call_to_handler)

function phases.protected()
	here(at.protected)
	for _ = 1, 10 do
		calls(pcall, at.leaf)
		pcall(leaf, 2)
		here(at.protected)
		calls(pcall, at.branch)
		pcall(branch, 2)
		here(at.protected)
		calls(pcall, at.call_thrower)
		pcall(call_thrower)
		here(at.protected)
		calls(pcall, at.fail)
		pcall(fail)
		here(at.protected)
		calls(xpcall, at.call_to_handler)
		xpcall(call_to_handler, handle)
		here(at.protected)
	end
	leaves(1)
end

---- CallInfos that are used again: what an error leaves in them looks like a call

local function fall(x)
	here(at.fall)
	throws(3)
	return x + nil
end
at.fall = line(fall)

local function tower()
	here(at.tower)
	local a, b, c, d, e, f = 1, 2, 3, 4, 5, 6
	calls(at.fall)
	fall(a + b + c + d + e + f)
end
at.tower = line(tower)

local function flat()
	here(at.flat)
	leaves(2)
end
at.flat = line(flat)

function phases.reused_calls()
	here(at.reused_calls)
	for _ = 1, 20 do
		calls(pcall, at.tower)
		pcall(tower)
		here(at.reused_calls)
		calls(pcall, at.flat)
		pcall(flat)
		here(at.reused_calls)
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
	end
	leaves(1)
end

---- C functions that call back

local function is_less(a, b)
	here(at.is_less)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(2)
	return a < b
end
at.is_less = line(is_less)

local function replace()
	here(at.replace)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(2)
end
at.replace = line(replace)

function phases.callbacks()
	here(at.callbacks)
	for _ = 1, 5 do
		local list = {5, 3, 8, 1, 9, 2}
		calls(table.sort, at.is_less)
		table.sort(list, is_less)
		here(at.callbacks)
		calls(string.gsub, at.replace)
		string.gsub("abcdef", "%w", replace)
		here(at.callbacks)
		calls(string.rep)
		list = string.rep("text", 100)
		here(at.callbacks)
	end
	leaves(1)
end

---- C functions that return functions

local function generate_nothing() end

function phases.functions_returned()
	here(at.functions_returned)
	local f, g, h, i
	for _ = 1, 5 do
		calls(pairs)
		f, g, h, i = pairs(phases) -- as many as `for` wants
		here(at.functions_returned)
		calls(pairs)
		f, g, h = pairs(phases)
		here(at.functions_returned)
		calls(pairs)
		f = pairs(phases)
		here(at.functions_returned)
		calls(ipairs)
		f, g = ipairs(phases)
		here(at.functions_returned)
		calls(select)
		f = select(1, print)
		here(at.functions_returned)
		calls(select)
		f, g, h = select(2, 1, print, 2, type, 3)
		here(at.functions_returned)
		calls(wrap)
		f = wrap(generate_nothing)
		here(at.functions_returned)
		-- In 5.5 this leaves no trace of what it was: see signs_of_shift().
		if _VERSION ~= "Lua 5.5" then
			calls(pcall, pairs)
			f, g = pcall(pairs, phases)
			here(at.functions_returned)
		end
		calls(rawget)
		f = rawget(string, "rep")
		here(at.functions_returned)
		calls(rawget)
		f = rawget(phases, "plain")
		here(at.functions_returned)
		calls(select)
		f, g = select(2, 1, generate_nothing)
		here(at.functions_returned)
		calls(string.gmatch)
		f, g = string.gmatch("a", "a")
		here(at.functions_returned)
	end
	leaves(1)
	return f, g, h, i
end

---- calls that no call instruction makes

local object = setmetatable({}, {
	__index = function()
		here(at.index)
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
		leaves(1)
		return x
	end,
	__add = function()
		here(at.add)
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
		leaves(1)
		return x
	end,
	__lt = function()
		here(at.less)
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
		leaves(1)
		return true
	end,
	__call = function()
		here(at.call)
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
		leaves(1)
		return x
	end,
})
at.index = line(getmetatable(object).__index)
at.add = line(getmetatable(object).__add)
at.less = line(getmetatable(object).__lt)
at.call = line(getmetatable(object).__call)

function phases.metamethods()
	here(at.metamethods)
	local value
	for _ = 1, 10 do
		calls(at.index)
		value = object.missing
		here(at.metamethods)
		calls(at.add)
		value = object + 1
		here(at.metamethods)
		calls(at.less)
		value = object < object
		here(at.metamethods)
		calls(at.call)
		value = object(1)
		here(at.metamethods)
	end
	leaves(1)
	return value
end

local function iterate(last, i)
	here(at.iterate)
	local x = 1
	for j = 1, steps do x = (x * 3 + j) % 1000003 end
	leaves(1)
	if i < last then return i + 1 end
end
at.iterate = line(iterate)

function phases.iterators()
	here(at.iterators)
	calls(at.iterate)
	for _ in iterate, 20, 0 do
		here(at.iterators)
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
		calls(at.iterate)
	end
	here(at.iterators)
	leaves(1)
end

---- tail calls

local function step_down(depth)
	here(at.step_down)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	if depth == 0 then
		tails(at.leaf)
		return leaf(1)
	end
	tails(at.step_down)
	return step_down(depth - 1)
end
at.step_down = line(step_down)

if not is_luau then
function phases.tail_calls()
	here(at.tail_calls)
	for _ = 1, 5 do
		calls(at.step_down)
		step_down(10)
		here(at.tail_calls)
	end
	leaves(1)
end
end

---- strings and garbage

local function make_garbage()
	here(at.make_garbage)
	local text = ""
	for i = 1, 20 + steps / 20 do
		text = text .. i
		local _ = {text, {i}}
	end
	leaves(1)
	return text
end
at.make_garbage = line(make_garbage)

function phases.garbage()
	here(at.garbage)
	for _ = 1, 10 do
		calls(at.make_garbage)
		make_garbage()
		here(at.garbage)
	end
	leaves(1)
end

---- coroutines

-- Yields as often as told, the last time to the end.
local function generate(own, times)
	here(at.generate)
	for _ = 1, times do
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
		calls(at.leaf)
		leaf(1)
		here(at.generate)
		yields(own, yield)
		yield(x)
		here(at.generate)
	end
	leaves(2)
end
at.generate = line(generate)

-- Yields from a function that it called, and resumes another of its kind in between.
local function yield_inside(own)
	here(at.yield_inside)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	yields(own, yield)
	yield()
	here(at.yield_inside)
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(1)
end
at.yield_inside = line(yield_inside)

local function nest(own, depth)
	here(at.nest)
	calls(at.yield_inside)
	yield_inside(own)
	here(at.nest)
	if depth > 0 then
		local inner = segment(at.nest)
		calls(create)
		local thread = create(nest)
		here(at.nest)
		for _ = 1, 3 do
			resumes(inner, resume)
			resume(thread, inner, depth - 1)
			here(at.nest)
			calls(at.yield_inside)
			yield_inside(own)
			here(at.nest)
		end
		-- It has ended, or else is garbage.
	end
	leaves(2)
end
at.nest = line(nest)

function phases.nested_coroutines()
	here(at.nested_coroutines)
	local outer = segment(at.nest)
	calls(create)
	local thread = create(nest)
	here(at.nested_coroutines)
	for _ = 1, 5 do
		resumes(outer, resume)
		resume(thread, outer, 3)
		here(at.nested_coroutines)
		local x = 1
		for i = 1, steps do x = (x * 3 + i) % 1000003 end
	end
	leaves(1)
end

function phases.generators()
	here(at.generators)
	for _ = 1, 5 do
		local own = segment(at.generate)
		calls(wrap)
		local generator = wrap(generate)
		here(at.generators)
		for _ = 1, 6 do
			resumes(own, generator)
			generator(own, 5)
			here(at.generators)
			local x = 1
			for i = 1, steps do x = (x * 3 + i) % 1000003 end
		end
	end
	leaves(1)
end

function phases.garbage_coroutines()
	here(at.garbage_coroutines)
	for _ = 1, 20 do
		local own = segment(at.generate)
		calls(create)
		local thread = create(generate)
		here(at.garbage_coroutines)
		resumes(own, resume)
		resume(thread, own, 1)
		here(at.garbage_coroutines)
	end
	leaves(1)
end

local function throw_out(own)
	here(at.throw_out)
	yields(own, yield)
	yield()
	here(at.throw_out)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	throws(2, error)
	error("out of the coroutine")
end
at.throw_out = line(throw_out)

function phases.errors_in_coroutines()
	here(at.errors_in_coroutines)
	for _ = 1, 10 do
		local own = segment(at.throw_out)
		calls(create)
		local thread = create(throw_out)
		here(at.errors_in_coroutines)
		resumes(own, resume)
		resume(thread, own)
		here(at.errors_in_coroutines)
		resumes(own, resume)
		resume(thread)
		here(at.errors_in_coroutines)
		calls(resume) -- a dead one
		resume(thread)
		here(at.errors_in_coroutines)
	end
	leaves(1)
end

local function yield_in_pcall(own)
	here(at.yield_in_pcall)
	yields(own, yield)
	yield()
	here(at.yield_in_pcall)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(2)
end
at.yield_in_pcall = line(yield_in_pcall)

local function protect_yields(own)
	here(at.protect_yields)
	calls(pcall, at.yield_in_pcall)
	pcall(yield_in_pcall, own)
	here(at.protect_yields)
	leaves(2)
end
at.protect_yields = line(protect_yields)

if can_yield_across_calls then
	function phases.yields_across_calls()
		here(at.yields_across_calls)
		for _ = 1, 10 do
			local own = segment(at.protect_yields)
			calls(create)
			local thread = create(protect_yields)
			here(at.yields_across_calls)
			for _ = 1, 2 do
				resumes(own, resume)
				resume(thread, own)
				here(at.yields_across_calls)
			end
		end
		leaves(1)
	end
end

-- A frame of 200 registers each, for the arguments of a call that never happens.
local grow
do
	local call = "grow(0, 0" .. string.rep(", 0", 190) .. ")"
	local code = [[
local here, calls, leaves, yields, yield, at = ...
local function grow(own, depth)
	if depth < 0 then ]] .. call .. [[ end
	here(at.grow)
	if depth == 0 then
		yields(own, yield)
		yield()
	else
		calls(at.grow)
		grow(own, depth - 1)
	end
	here(at.grow)
	leaves(1)
end
return grow]]
	grow = (loadstring or load)(code, "@growing_workload.lua")(here, calls, leaves, yields, yield, at)
end
at.grow = line(grow)

local function grow_once(own)
	here(at.grow_once)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	calls(at.grow)
	grow(own, 20)
	here(at.grow_once)
	leaves(2)
end
at.grow_once = line(grow_once)

-- Each coroutine begins with a small stack, and moves it several times before it yields.
function phases.growing()
	here(at.growing)
	for _ = 1, 5 do
		local own = segment(at.grow_once)
		calls(create)
		local thread = create(grow_once)
		here(at.growing)
		for _ = 1, 2 do
			resumes(own, resume)
			resume(thread, own)
			here(at.growing)
		end
	end
	leaves(1)
end

local own_segments = {}

local function task(i, own)
	here(at.task)
	for _ = 1, 5 do
		local x = 1
		for j = 1, steps do x = (x * 3 + j) % 1000003 end
		calls(at.yield_inside)
		yield_inside(own)
		here(at.task)
	end
	leaves(1)
	return i
end
at.task = line(task)

local function first_task()
	here(at.first_task)
	calls(at.task)
	task(1, own_segments[1])
	here(at.first_task)
	leaves(1)
end
at.first_task = line(first_task)

local function second_task()
	here(at.second_task)
	calls(at.task)
	task(2, own_segments[2])
	here(at.second_task)
	leaves(1)
end
at.second_task = line(second_task)

function phases.hidden_scheduler()
	here(at.hidden_scheduler)
	own_segments[1] = oracle.adopt(first_task, at.first_task)
	own_segments[2] = oracle.adopt(second_task, at.second_task)
	calls(oracle.schedule)
	oracle.schedule()
	here(at.hidden_scheduler)
	leaves(1)
end

---- hooks

local function on_count()
	here(at.on_count)
	local x = 1
	for i = 1, steps do x = (x * 3 + i) % 1000003 end
	leaves(1)
end
at.on_count = line(on_count)

function phases.hooks()
	here(at.hooks)
	oracle.hook(1000, on_count, at.on_count)
	calls(at.branch)
	branch(1)
	here(at.hooks)
	calls(pcall, at.branch)
	pcall(branch, 2)
	here(at.hooks)
	oracle.hook(0)
	leaves(1)
end
if is_luau then phases.hooks = nil end

---- all of them, in an order that does not repeat soon

local order = {}
for name, phase in pairs(phases) do
	at[name] = line(phase)
	if only_phase == "" or only_phase == name then
		order[#order + 1] = name
	end
end

local dice = 1
local main = oracle.begin()
calls(oracle.tell)
oracle.tell()
here(main)
while true do
	dice = (dice * 16807) % 2147483647
	local name = order[dice % #order + 1]
	calls(at[name])
	phases[name]()
	here(main)
end
