-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Goes round all ways in which a function may come to run, forever. At each of them it tells once
-- on which stack ("STACK place TAB names, outermost first"), and now and then how much work it has
-- done at each ("WORK place=rounds of one loop;"). Functions are called what the line calls them
-- that defines them; without a name there, what debug.getinfo calls them.

local coroutine, debug, table, string, io = coroutine, debug, table, string, io
local ROUNDS = 3000

local names = {}
for module, functions in pairs(package.loaded) do
	if type(functions) == "table" then
		for name, f in pairs(functions) do
			if type(f) == "function" then
				names[f] = module == "_G" and name or names[f] or module .. "." .. name
			end
		end
	end
end
for name, f in pairs(_G) do
	if type(f) == "function" then
		names[f] = name
	end
end

local resumer = setmetatable({}, {__mode = "k"}) -- of a thread
local main = coroutine.running() -- nil in 5.1, where nobody can look at the main thread
local nameless = "@(*+0x*|*auxwrap)" -- static, but a symbol table may have it
local is_host = cpu_us ~= nil -- a C function calls the main chunk; stripped, it has no name

local function spawn(f)
	local co = coroutine.create(f)
	resumer[co] = coroutine.running() or "coroutine.resume"
	return co
end

local own_source = debug.getinfo(1, "S").source
local lines = {}
for line in io.lines((own_source:gsub("^@", ""))) do
	lines[#lines + 1] = line
end

-- Bytecode does not tell a method on one line from a field, and so names none.
local function defined_name(info)
	local line = info.source == own_source and lines[info.linedefined] or ""
	return line:match("^%s*local function ([%w_]+)%(") or line:match("^%s*function ([%w_.]+)%(") or
		line:match("^%s*([%w_.]+) = function%(")
end

local function describe(info)
	if info.what == "C" then
		return names[info.func] or nameless
	elseif info.what == "main" then
		return "main chunk"
	elseif defined_name(info) then
		return defined_name(info)
	elseif info.namewhat == "hook" then
		return "hook"
	end
	return info.name or ""
end

local function add_frames(stack, level, thread)
	while true do
		local info
		if thread then
			info = debug.getinfo(thread, level, "nSf")
		else
			info = debug.getinfo(level, "nSf")
		end
		if not info then
			return
		end
		if info.what ~= "tail" then
			table.insert(stack, 1, describe(info))
		end
		level = level + 1
	end
end

-- In 5.1 nobody can look at the main thread from a coroutine, but it is always at one place then.
local visited
local function add_main_thread(stack, how)
	for _, name in ipairs({how, "tour." .. visited, "visit", "main chunk", nameless}) do
		table.insert(stack, 1, name)
	end
end

local function publish(place, leaf)
	local stack, thread = {leaf}, coroutine.running()
	add_frames(stack, 3)
	while thread and thread ~= main do
		thread = resumer[thread]
		if type(thread) == "thread" then
			add_frames(stack, 0, thread)
		else
			add_main_thread(stack, thread)
		end
		thread = type(thread) == "thread" and thread
	end
	if is_host then
		stack[1] = "@(run_script|*+0x*)"
	end
	io.write("STACK ", place, "\t^", table.concat(stack, " > "), "\n")
	io.stdout:flush()
end

local work = {}

local function burn(place)
	if not work[place] then
		work[place] = 0
		publish(place)
	end
	-- At random, for a timer must not keep step with it.
	local x, rounds = 0, math.random(ROUNDS, 3 * ROUNDS)
	for i = 1, rounds do
		x = x + i % 7
	end
	work[place] = work[place] + rounds
	return x
end

local tour = {}

local function inner() burn("plain") return 1 end
function tour.plain() inner() return 1 end

function global_function() burn("global") return 1 end
function tour.global() global_function() return 1 end

local object = {}
function object:method() burn("method") return 1 end
function tour.method() object:method() return 1 end

local nested = {deep = {}}
function nested.deep.field() burn("field") return 1 end
function tour.field() nested.deep.field() return 1 end

local function given() burn("parameter") return 1 end
local function called(parameter) parameter() return 1 end
function tour.parameter() called(given) return 1 end

-- Three deep: each one in another way.
local function third() burn("third coroutine") return 1 end
local function second_body()
	local co = spawn(function() third() return 1 end)
	coroutine.resume(co)
	burn("second coroutine")
	return 1
end
local function first_body()
	local co = spawn(function() second_body() return 1 end)
	assert(coroutine.resume(co))
	burn("first coroutine")
	return 1
end
function tour.coroutines()
	local co = spawn(function() first_body() return 1 end)
	assert(coroutine.resume(co))
	return 1
end

-- One that lives on: it is resumed at another place than it was made.
local kept
local function make_kept()
	kept = spawn(function()
		while true do
			burn("kept coroutine")
			coroutine.yield()
		end
	end)
end
make_kept()
function tour.kept()
	assert(coroutine.resume(kept))
	return 1
end

function tour.wrap()
	local f = coroutine.wrap(function()
		resumer[coroutine.running()] = main or nameless
		burn("wrap")
		coroutine.yield(1)
		burn("wrap after yield")
	end)
	f()
	f()
	return 1
end

local function protected() burn("pcall") error("no") end
function tour.pcall() pcall(protected) return 1 end

local function fails() error({}) end
function tour.xpcall()
	xpcall(fails, function(e) burn("message handler") return e end)
	return 1
end

local function indexes_nil() local x = nil return x.y end
function tour.xpcall_runtime()
	xpcall(indexes_nil, function(e) burn("message handler of an operation") return e end)
	return 1
end

local meta = {}
local thing, other = setmetatable({}, meta), setmetatable({}, meta)
meta.__index = function(_, key) burn("__index") return key end
meta.__newindex = function() burn("__newindex") end
meta.__add = function() burn("__add") return 1 end
meta.__lt = function() burn("__lt") return true end
meta.__eq = function() burn("__eq") return true end
meta.__concat = function() burn("__concat") return "" end
meta.__unm = function() burn("__unm") return 1 end
meta.__call = function() burn("__call") return 1 end
meta.__tostring = function() burn("__tostring") return "thing" end
function tour.metamethods()
	local sum = thing.key
	thing.key = 1
	sum = thing + 1
	sum = thing < other
	sum = thing == other
	sum = thing .. "x"
	sum = -thing
	sum = thing(1)
	sum = tostring(thing)
	return 1
end

local function comparator(a, b) burn("sort") return a < b end
function tour.sort() table.sort({2, 1}, comparator) return 1 end

local function replace(s) burn("gsub") return s end
function tour.gsub() string.gsub("a", "a", replace) return 1 end

local function callee() burn("tail call") return 1 end
local function tail_caller() return callee() end
local function tail_root() tail_caller() return 1 end
function tour.tail_call() tail_root() return 1 end

local function recursive(n)
	if n == 0 then
		burn("recursion")
		return 0
	end
	return 1 + recursive(n - 1)
end
function tour.recursion() recursive(20) return 1 end

local function iterator(_, i)
	if i < 1 then
		burn("iterator")
		return i + 1
	end
end
function tour.iterator() for _ in iterator, nil, 0 do end return 1 end

-- The hook goes first, for the interpreter is slower while there is one.
local function hook()
	debug.sethook()
	burn("hook")
end
local function hooked() local x = 0 for i = 1, 200 do x = x + i end return x end
function tour.hook()
	debug.sethook(hook, "", 100)
	hooked()
	return 1
end

local loaded = (loadstring or load)("local burn = ... burn('loaded') return 1", "=(a chunk)")
function tour.loaded() loaded(burn) return 1 end

local unnamed = (loadstring or load)("local burn = ... burn('string') return 1")
function tour.string() unnamed(burn) return 1 end

local closing = load and (loadstring or load)([[
	local burn = ...
	local mt = {__close = function() burn("__close") end}
	return function() do local x <close> = setmetatable({}, mt) end return 1 end
]], "=closing")
if closing then
	tour.close = closing(burn)
end

local function finalizer() burn("__gc") end
function tour.gc()
	collectgarbage("stop")
	if newproxy then
		getmetatable(newproxy(true)).__gc = finalizer
	else
		setmetatable({}, {__gc = finalizer})
	end
	collectgarbage()
	return 1
end

local order = {}
for name in pairs(tour) do order[#order + 1] = name end
table.sort(order)

local function report()
	local words = {}
	for place, rounds in pairs(work) do
		words[#words + 1] = string.format("%s=%.0f", place, rounds)
	end
	io.write("WORK ", table.concat(words, ";"), ";\n")
	io.stdout:flush()
end

local function visit(place)
	local stop = tour[place]
	visited = place
	stop()
	return 1
end

local rounds = 0
while true do
	for _, place in ipairs(order) do
		visit(place)
	end
	rounds = rounds + 1
	if rounds % 10 == 1 then
		report()
	end
end
