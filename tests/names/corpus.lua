-- Every step below is called by the one before it, in a way of its own, so that one stack holds
-- many kinds of calls. At the deepest point the program writes what debug.getinfo says of each of
-- its frames, one a line, and waits for a line of input.
--
-- Usage: corpus.lua FIRST COUNT: runs the steps FIRST .. FIRST + COUNT - 1 (C allows no more than
-- some 200 nested metamethods); COUNT 0 only writes how many there are.

local version = tonumber(string.match(_VERSION, "5%.(%d)"))
local compile = loadstring or load
local unpack = unpack or table.unpack
local steps = {}
local step_number = 0
local last_step
-- By the function with the loop: what its iterator is called here. debug.getinfo gives all the same
-- name, "for iterator", or "(for generator)" in 5.1.
local iterators = setmetatable({}, {__mode = "k"})

local function is_iterator(frame)
	return frame.namewhat == "for iterator" or frame.name == "for iterator" or
		frame.name == "(for generator)"
end

local function record(state, thread)
	local frames = {}
	local level = thread and 0 or 2
	while true do
		local frame
		if thread then
			frame = debug.getinfo(thread, level, "nSlf")
		else
			frame = debug.getinfo(level, "nSlf")
		end
		if not frame then
			break
		end
		-- 5.1 shows lost tail calls as frames.
		if frame.what ~= "tail" then
			frames[#frames + 1] = frame
		end
		level = level + 1
	end
	for i = #frames, 1, -1 do
		local frame = frames[i]
		if is_iterator(frame) then
			frame.namewhat = "for iterator"
			frame.name = iterators[frames[i + 1].func] or "for iterator"
		end
		io.write("frame\t", state, "\t", frame.what, "\t", frame.currentline, "\t",
			frame.namewhat, "\t", frame.name or "", "\n")
	end
end

local function advance()
	step_number = step_number + 1
	local step = steps[step_number]
	if step and step_number <= last_step then
		step()
	else
		record("inner")
		io.write("ready\n")
		io.stdout:flush()
		io.read()
		os.exit(0)
	end
	return nil
end

local function step(f)
	steps[#steps + 1] = f
end

local function iterator_step(name, f)
	iterators[f] = name
	steps[#steps + 1] = f
end

-- Steps in syntax or with libraries that older versions do not have.
local function step_since(minor, code)
	if version >= minor then
		steps[#steps + 1] = assert(compile("local advance = ...\n" .. code))(advance)
	end
end

local function object(...)
	local meta = {}
	for i = 1, select("#", ...) do
		meta[select(i, ...)] = function() advance() return nil end
	end
	return setmetatable({}, meta)
end

--- Plain calls

step(function() advance() end)
step(function() global_function = advance global_function() end)
step(function() local f = advance f() end)
step(function() local t = {f = advance} t.f() end)
step(function() local a = {b = {c = {f = advance}}} a.b.c.f() end)
step(function() local t = {m = advance} t:m() end)
step(function() local a = {b = {m = advance}} a.b:m() end)
step(function() local t, k = {key = advance}, "key" t[k]() end)
step(function() local t = {advance} t[1]() end)
step(function() local t = {[300] = advance} t[300]() end)
step(function() local t = {[1.5] = advance} t[1.5]() end)
step(function() local t = {[true] = advance} t[true]() end)
step(function() local t = {["two words"] = advance} t["two words"]() end)
step(function() local t = {["tab\tquote\""] = advance} t["tab\tquote\""]() end)
step(function() local t = {["cut\0off"] = advance} t["cut\0off"]() end)
step(function() local t = {[""] = advance} t[""]() end)
step(function() local f = advance; (f)() end)
step(function() (function() advance() return nil end)() end)
step(function() local function get() return advance end get()() end)
step(function() local function get() return {m = advance} end get():m() end)
step(function() local t = {f = {advance}} t.f[1]() end)
step(function() local t, u = {k = advance}, {x = "k"} t[u.x]() end)
step(function()
	global_table = {f = advance, m = advance, nested = {f = advance}}
	global_table.f()
end)
step(function()
	global_table = {f = advance, m = advance, nested = {f = advance}}
	global_table:m()
end)
step(function() global_table = {nested = {f = advance}} global_table.nested.f() end)
step(function() _G.global_function = advance _G.global_function() end)
step(function() _G["global_function"] = advance _G["global_function"]() end)
do
	local up = {f = advance, m = advance, [1] = advance, nested = {f = advance}}
	local key = "f"
	step(function() up.f() end)
	step(function() up:m() end)
	step(function() up[1]() end)
	step(function() up[key]() end)
	step(function() up.nested.f() end)
	step(function() local t = up t.f() end)
	step(function() return (up.f()) end)
end
step(function()
	local long = "a name that is longer than forty characters, which makes it a long string"
	local t = {[long] = advance}
	t["a name that is longer than forty characters, which makes it a long string"]()
end)
step(function()
	local t = {a_method_that_is_longer_than_forty_characters_in_all = advance}
	t:a_method_that_is_longer_than_forty_characters_in_all()
end)
step(function()
	local name = string.rep("x", 255)
	assert(compile("local t = ... t." .. name .. "() return nil"))({[name] = advance})
end)

--- Arguments, results, recursion, tail calls

step(function() local function f(...) advance(...) return nil end f(1, 2, 3) end)
step(function() local function f(...) local g = ... g() return nil end f(advance) end)
step(function() local function f(...) (...)() return nil end f(advance) end)
step(function() local function f(g) g() return nil end f(advance) end)
step(function() local t = {f = tostring} t.f(t.f(t.f(advance()))) end)
step(function() local a, b = 1, advance(), 2 return a, b end)
step(function() local t = {1, 2, advance(), 3} return t end)
step(function() local s = "a" .. (advance() or "b") return s end)
step(function()
	local function recurse(n)
		if n > 0 then
			recurse(n - 1)
		else
			advance()
		end
		return nil
	end
	recurse(3)
end)
step(function() return advance() end)
step(function() local t = {f = advance} return t.f() end)
step(function() local function last() advance() return nil end return last() end)
step(function() return pcall(advance) end)
step(function() local t = {m = advance} return t:m() end)

--- Called by C

step(function() pcall(advance) end)
step(function() xpcall(advance, print) end)
step(function() local ok = pcall(pcall, pcall, advance) return ok end)
step(function() table.sort({2, 1}, function(a, b) advance() return a < b end) end)
step(function() string.gsub("x", ".", function() advance() return nil end) end)
step(function() ("x"):gsub(".", function() advance() return nil end) end)
step(function() local gsub = string.gsub gsub("x", ".", advance) end)
step(function() compile("local f = ... f() return nil")(advance) end)
step(function() f_in_chunk = advance compile("f_in_chunk() return nil")() end)
step(function() local chunk = compile("local f = ... return f()") chunk(advance) end)
step(function()
	local names = {}
	for name in string.gmatch("one two", "%a+") do
		names[#names + 1] = name
		if name == "two" then
			advance()
		end
	end
end)

step_since(5, [[return function()
	local function f(...t) t[1]() return nil end
	f(advance)
end]])
step_since(5, [[return function()
	local function f(...t) local k = 1 t[k]() return nil end
	f(advance)
end]])

--- Scopes

step(function()
	local f = print
	local f = tostring
	local f = advance
	f()
end)
step(function()
	local f = advance
	do
		local f = advance
		f()
	end
end)
step(function()
	local f = advance
	do
		local g = f
		local h = g
	end
	do
		local x, y, z
		f()
	end
end)
step(function()
	do
		local a, b, c = 1, 2, 3
	end
	advance()
end)
step(function()
	do
		local gone = advance
	end
	local t = {f = advance}
	t.f()
	t.g()
end)
step(function() local a, b, c, d = nil, nil, nil, advance d() end)
step(function() local a, b, c advance() end)
step(function() for i = 1, 2 do local f = advance f(i) end end)
step(function() for _, f in ipairs({advance}) do f() end end)
step(function() for k, v in pairs({f = advance}) do v(k) end end)
step(function()
	for i = 1, 3 do
		for j = 1, 3 do
			if i == 2 and j == 2 then
				advance()
			end
		end
	end
end)
step(function() local f repeat f = advance until f f() end)
step(function() local i = 0 while i < 3 do i = i + 1 end advance(i) end)
step(function() local i = 0 while true do i = i + 1 if i == 3 then advance() end end end)

--- Jumps before the call

step(function()
	local f
	if step_number > 0 then
		f = advance
	else
		f = print
	end
	f()
end)
step(function() local f = step_number > 0 and advance or print f() end)
step(function() (step_number > 0 and advance or print)() end)
step(function() (step_number < 0 and print or advance)() end)
step(function() (nowhere or advance)() end)
step(function() (advance and advance)() end)
step(function() local a = advance; (a or print)() end)
step(function() local a = advance; (nowhere or a)() end)
step(function() local t = {f = advance}; (nowhere and print or t.f)() end)
step(function() local t = {m = advance}; (nowhere or t):m() end)
step(function() local t = {f = advance} t[nowhere and "g" or "f"]() end)
step(function() advance(nowhere and 1 or 2, nowhere or 3, not nowhere, nowhere == 1) end)
step(function() local t = {f = advance} t.f(step_number > 0 and 1 or 2) end)
step(function()
	if nowhere then
		print()
	elseif nowhere == 1 then
		tostring()
	else
		advance()
	end
end)
step(function()
	local t = {f = advance}
	for i = 1, 2 do
		if i == 1 and not nowhere then
			t.x = i
		elseif i == 2 or nowhere then
			t.f()
		end
	end
end)
step(function() local t = {f = advance} while nowhere do t.f = nil end t.f() end)
step_since(2, [[return function()
	local t, i = {f = advance}, 0
	::again::
	i = i + 1
	if i < 3 then
		goto again
	end
	goto over
	t = nil
	::over::
	t.f()
end]])
step_since(2, [[return function()
	for i = 1, 3 do
		if i < 3 then
			goto continue
		end
		advance()
		::continue::
	end
end]])

--- Closures and their captured values (5.1 writes them as instructions)

do
	local up, up2 = advance, advance
	local function pass(f, g)
		f(g)
		return nil
	end
	step(function() pass(function() local x = up up2() return x end) end)
	step(function() up(function() return up, up2 end) end)
	step(function() do local f = function() return up2, pass end end up() end)
	step(function() up(function() end, function() return pass end) end)
	step(function()
		local a, b = up, up2
		local function f() return a, b, up, pass end
		f()
		a()
	end)
	step(function()
		local a = up
		do
			local f = function() return a end
			f()
		end
		up2(a)
	end)
	step(function() pass(function() (function() up() return pass end)() return nil end) end)
	step(function() (function(...) up(...) return up2 end)(function() return up end, up2) end)
end

--- Constants beyond what an instruction holds

local function with_constants(count, call)
	local lines = {"local x, f, t = nil, ...\n"}
	for i = 1, count do
		lines[#lines + 1] = "x = " .. i .. ".25\n"
	end
	return assert(compile(table.concat(lines) .. call .. "\nreturn nil"))
end

local many = {f = advance, m = advance, nested = {f = advance}}
for _, count in ipairs({250, 300, 140000, 270000}) do
	-- 5.1 has no room for more than 2^18 constants.
	if count < 262144 or version > 1 then
		step(function() with_constants(count, "t.f()")(advance, many) end)
		step(function() with_constants(count, "t:m()")(advance, many) end)
		step(function()
			global_function = advance
			with_constants(count, "global_function()")(advance, many)
		end)
	end
	if count < 1000 then
		step(function() with_constants(count, "t.nested.f()")(advance, many) end)
		step(function()
			global_table = many
			with_constants(count, "global_table.f()")(advance, many)
		end)
		step(function()
			global_table = many
			with_constants(count, "global_table:m()")(advance, many)
		end)
	end
end
step(function()
	local items = string.rep("1,", 26000)
	assert(compile("local f = ... local t = {" .. items .. "} f(t) return nil"))(advance)
end)
step(function()
	f_after_items = advance
	local items = string.rep("1,", 26000)
	assert(compile("f_after_items({" .. items .. "}) return nil"))()
end)

--- Called things that are no functions

step(function() object("__call")() end)
step(function() local callable = object("__call") callable() end)
step(function() local t = {callable = object("__call")} t.callable(1) end)
step(function() local t = {callable = object("__call")} t:callable() end)
step(function()
	getmetatable("").__call = function() advance() return nil end;
	("a constant")()
end)
step(function()
	getmetatable("").__call = function() advance() return nil end
	local s = "a constant"
	s(1)
end)
step(function()
	debug.setmetatable(0, {__call = function() advance() return nil end});
	(1.5)()
end)

--- Metamethods

step(function() local x = object("__index").field return x end)
step(function() local x = object("__index")[1] return x end)
step(function() local x = object("__index")[1.5] return x end)
step(function() local o, k = object("__index"), "key" local x = o[k] return x end)
step(function() local o = object("__index") pcall(function() o:method() end) end)
step(function() object("__newindex").field = 1 end)
step(function() object("__newindex")[1] = 1 end)
step(function() local o, k = object("__newindex"), "key" o[k] = 1 end)
do
	local up = object("__index", "__newindex")
	step(function() local x = up.field return x end)
	step(function() up.field = 1 end)
	step(function() local x = up[1] return x end)
	step(function() up[1] = up end)
end
step(function()
	setmetatable(_G, {__index = function() setmetatable(_G, nil) advance() return nil end})
	local x = undefined_global
	return x
end)
step(function()
	setmetatable(_G, {__newindex = function() setmetatable(_G, nil) advance() return nil end})
	new_global = 1
end)
for _, operator in ipairs({"+", "-", "*", "/", "%", "^", ".."}) do
	local events = {["+"] = "__add", ["-"] = "__sub", ["*"] = "__mul", ["/"] = "__div",
		["%"] = "__mod", ["^"] = "__pow", [".."] = "__concat"}
	local event = events[operator]
	for _, operands in ipairs({"o %s o", "o %s 2", "2 %s o", "o %s 2.5", "2.5 %s o", "o %s x"}) do
		local expression = string.format(string.gsub(operands, "%%s", "%%s"), operator)
		local code = "local o, x = ... local r = " .. expression .. " return r"
		step(function() assert(compile(code))(object(event), 7) end)
	end
end
step(function() local o = object("__concat") local s = "a" .. "b" .. o .. "c" .. "d" return s end)
step(function() local o = object("__unm") local x = -o return x end)
step(function() local o = object("__eq") local x = o == setmetatable({}, getmetatable(o)) return x end)
step(function() local o = object("__eq") if o ~= setmetatable({}, getmetatable(o)) then print() end end)
for _, operator in ipairs({"<", "<=", ">", ">="}) do
	step(function()
		local o = object("__lt", "__le")
		local p = setmetatable({}, getmetatable(o))
		assert(compile("local o, p = ... return o " .. operator .. " p"))(o, p)
	end)
	if version > 1 then
		for _, operands in ipairs({"o %s 1", "1 %s o", "o %s 1.0", "1.5 %s o", "o %s 1000"}) do
			local code = "local o = ... return " .. string.format(operands, operator)
			step(function() assert(compile(code))(object("__lt", "__le")) end)
		end
	end
end
if version < 4 then
	step(function()
		local o = object("__lt")
		local x = o <= setmetatable({}, getmetatable(o))
		return x
	end)
end
step_since(2, [[return function()
	local o = setmetatable({}, {__len = function() advance() return 1 end})
	local x = #o
	return x
end]])
if version == 1 then
	step(function()
		local o = newproxy(true)
		getmetatable(o).__len = function() advance() return 1 end
		local x = #o
		return x
	end)
end
step_since(2, [[return function()
	local o = setmetatable({}, {__pairs = function() advance() return next, {} end})
	for k, v in pairs(o) do print(k, v) end
end]])
if version >= 3 then
	for event, operator in pairs({__idiv = "//", __band = "&", __bor = "|", __bxor = "~",
		__shl = "<<", __shr = ">>"}) do
		for _, operands in ipairs({"o %s o", "o %s 2", "2 %s o", "o %s x"}) do
			local code = "local o, x = ... local r = " .. string.format(operands, operator) ..
				" return r"
			step(function() assert(compile(code))(object(event), 7) end)
		end
	end
	step(function() assert(compile("local o = ... return ~o"))(object("__bnot")) end)
end

--- Iterators

local function once() return function() advance() return nil end end
global_once = once
local makers = {once = once, nested = {once = once}}
function makers:each() return once() end
local function advances() return advance end

iterator_step("advance", function() for x in advance do print(x) end end)
iterator_step("f", function()
	local t = {f = advance}
	for a, b, c in t.f, t, 1 do print(a, b, c) end
end)
iterator_step("for iterator", function()
	for _ in function() advance() return nil end do
		print()
	end
end)
iterator_step("iterator of object", function() for _ in object("__call") do print() end end)
iterator_step("iterator of once", function() for _ in once() do print() end end)
iterator_step("iterator of global_once", function() for _ in global_once() do print() end end)
iterator_step("iterator of once", function() for _ in makers.once(1, 2) do print() end end)
iterator_step("iterator of once", function() for _ in makers.nested.once() do print() end end)
iterator_step("iterator of each", function() for _ in makers:each() do print() end end)
iterator_step("iterator of each", function(...)
	local count = select("#", ...)
	if count == 0 then
		for a, b, c, d in makers:each(...) do print(a, b, c, d) end
	else
		for a in makers.once() do print(a) end
	end
end)
iterator_step("iterator of make", function()
	local make = once
	for i = 1, 2 do
		for k in pairs({1, 2}) do
			for _ in make(i, k) do
				local f = once
				print(f(i), f(k), {f(k)}, function() return make end)
			end
		end
	end
end)
-- The first of two values is the iterator.
iterator_step("iterator of make", function()
	local make, other = advances, once
	for _ in make(), other() do print() end
end)
iterator_step("for iterator", function() for _ in once() and once() do print() end end)
iterator_step("for iterator", function() for _ in ({advance})[1] do print() end end)
iterator_step("for iterator", function(...)
	local function f(...)
		for _ in ... do print() end
	end
	iterators[f] = "for iterator"
	f(advance, ...)
end)
-- An iterator that was made elsewhere.
iterator_step("made", function()
	local made = once()
	for _ in made do print() end
end)
iterator_step("made", function()
	local made = once()
	local function f() for _ in made do print() end end
	iterators[f] = "made"
	f()
	return nil
end)

--- Environments

if version == 1 then
	step(function()
		local f = function() in_environment() return nil end
		setfenv(f, {in_environment = advance})
		f()
	end)
	step(function() local _ENV = {f = advance} _ENV.f() end)
end
step_since(2, [[return function() local _ENV = {f = advance} f() end]])
step_since(2, [[return function() local _ENV = {f = advance} _ENV.f() end]])
step_since(2, [[return function() local _ENV = {f = advance} _ENV:f() end]])
step_since(2, [[return function()
	local function g(_ENV) f() end
	g({f = advance})
end]])
step_since(2, [[return function() _ENV.in_env = advance _ENV.in_env() end]])
step_since(2, [[return function() _ENV["in_env"] = advance _ENV["in_env"]() end]])
step_since(2, [[return function()
	local e, k = {f = advance}, "f"
	local _ENV = e
	_ENV[k]()
end]])
step_since(2, [[local t = {f = advance} return function() local _ENV = t f() end]])
step_since(2, [[local _ENV = {f = advance} return function() f() end]])
step_since(2, [[local _ENV = {f = advance} return function() _ENV.f() end]])
step_since(2, [[local _ENV = {t = {f = advance}} return function() t.f() end]])
step_since(2, [[local _ENV = {t = {f = advance}} return function() local x = t x.f() end]])
step_since(4, [[return function() local _ENV <const> = {f = advance} f() end]])
step_since(2, [[return function()
	local chunk = load("f() return nil", "=chunk", "t", {f = advance})
	chunk()
end]])

--- Stripped of names

step_since(3, [[return function()
	local f = load(string.dump(function(g)
		local h = g
		h()
		return nil
	end, true))
	f(advance)
end]])
step_since(3, [[return function()
	in_stripped = advance
	load(string.dump(function() in_stripped() return nil end, true))()
end]])
step_since(3, [[return function()
	in_stripped = {f = advance, m = advance}
	load(string.dump(function() in_stripped:m() return nil end, true))()
end]])
step_since(3, [[return function()
	load(string.dump(function(t) t.f() return nil end, true))({f = advance})
end]])

--- Closing (5.4)

step_since(4, [[
local function closer() return setmetatable({}, {__close = function() advance() end}) end
return function() do local x <close> = closer() end end]])
step_since(4, [[
local function closer() return setmetatable({}, {__close = function() advance() end}) end
return function() local x <close> = closer() return 1 end]])
step_since(4, [[
local function closer() return setmetatable({}, {__close = function() advance() end}) end
return function() while true do local x <close> = closer() break end end]])
step_since(4, [[
local function closer() return setmetatable({}, {__close = function() advance() end}) end
return function() for i = 1, 1 do local x <close> = closer() end end]])
step_since(4, [[
local function closer() return setmetatable({}, {__close = function() advance() end}) end
return function() for i in next, {}, nil, closer() do print(i) end end]])
step_since(4, [[
local function closer() return setmetatable({}, {__close = function() advance() end}) end
return function() local x <close> = closer() return tostring(x) end]])

local first, count = ...
step_number = first - 1
last_step = step_number + count
io.write("steps\t", #steps, "\n")
if tonumber(count) > 0 then
	local body = coroutine.create(function() advance() return nil end)
	io.write("thread\t", string.match(tostring(body), "0x(%x+)"), "\n")
	record("outer")
	print(coroutine.resume(body))
end
