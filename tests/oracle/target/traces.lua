-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- For LuaJIT's compiler: functions that publish, by a store into memory, that they run. The store is
-- compiled along with them. What is published is the line of the function, and that of its caller
-- in the upper bits: @function<caller@ below stands for that number. The argument says whether the
-- compiler is on.
local ffi = require "ffi"
-- One page within this memory. A static program has no functions of C to offer, such as mmap().
local memory = ffi.new("uint8_t[8192]")
local address = tonumber(ffi.cast("uintptr_t", memory))
local page = ffi.cast("uint64_t *", memory + (4096 - address % 4096))

local code = [==[
local page, field = ...
local weak = {}
local function add(a, b) page[field] = @add<inlined@
	return (a * b + 1) % 1000003
end
local function inlined(n) page[field] = @inlined<all@
	local x = 1
	for i = 1, n do x = add(x, i) page[field] = @inlined<all@ end
	return x
end
local function text(i) page[field] = @text<strings@
	return "text" .. i .. "more"
end
local function strings(n) page[field] = @strings<all@
	local length = 0
	for i = 1, n do length = length + #text(i) page[field] = @strings<all@ end
	return length
end
local function pair(i) page[field] = @pair<tables@
	return {i, {i}}
end
local function tables(n) page[field] = @tables<all@
	for i = 1, n do weak[1 + i % 8] = pair(i) page[field] = @tables<all@ end
end
local class = {}
class.__index = function(_, key) page[field] = @index<events@
	return #key
end -- function index
class.__add = function(a, b) page[field] = @plus<events@
	return setmetatable({value = a.value + b.value}, class)
end -- function plus
local function events(n) page[field] = @events<all@
	local object = setmetatable({value = 1}, class)
	for i = 1, n do
		local x = object.missing page[field] = @events<all@
		object = object + object page[field] = @events<all@
		object.value = x + i % 7
	end
end
local function fib(n) page[field] = @fib<all@
	if n < 2 then return n end
	local a = fib(n - 1) page[field] = @fib<all@
	local b = fib(n - 2) page[field] = @fib<all@
	return a + b
end
local function odd(i) page[field] = @odd<branches@
	return i * 3
end
local function even(i) page[field] = @even<branches@
	return i / 2
end
local function branches(n) page[field] = @branches<all@
	local x = 0
	for i = 1, n do
		if i % 3 == 0 then x = x + odd(i) else x = x - even(i) end page[field] = @branches<all@
	end
	return x
end
local function sum(...) page[field] = @sum<varargs@
	local a, b, c = ...
	return a + b + c + select("#", ...)
end
local function varargs(n) page[field] = @varargs<all@
	local x = 0
	for i = 1, n do x = x + sum(i, x % 7, 3) page[field] = @varargs<all@ end
	return x
end
local function risky(i) page[field] = @risky<protected@
	return "a" .. i
end
local function protected(n) page[field] = @protected<all@
	for i = 1, n do pcall(risky, i) page[field] = @protected<all@ end
end
local function lengths(n) page[field] = @lengths<all@
	local x, list = 0, {1, 2, 3, 4, 5, 6, 7, 8, 9}
	for i = 1, n do x = x + #list list[10 + i % 2] = i end
	for _ = 1, n / 10 do for _, v in pairs(list) do x = x + v end end
	return x
end
local function closures(n) page[field] = @closures<all@
	local x = 0
	for i = 1, n do
		local f = function(y) page[field] = @inner<closures@ return weak[1 + y % 8] and y + i end -- function inner
		x = x + (f(i) or 1) page[field] = @closures<all@
	end
	return x
end
local function less(a, b) page[field] = @less<sorts@
	return a < b
end
local function sorts() page[field] = @sorts<all@
	local list = {}
	for i = 1, 10 do list[i] = i * 7919 % 11 end
	table.sort(list, less) page[field] = @sorts<all@
end
local function generate() page[field] = @generate<generators@
	for i = 1, 10 do coroutine.yield("x" .. i) page[field] = @generate<generators@ end
end
local function generators() page[field] = @generators<all@
	for x in coroutine.wrap(generate) do page[field] = @generators<all@ end
	page[field] = @generators<all@
end
local function all() page[field] = @all<all@
	while true do
		inlined(2000) page[field] = @all<all@
		strings(300) page[field] = @all<all@
		tables(300) page[field] = @all<all@
		events(300) page[field] = @all<all@
		fib(13) page[field] = @all<all@
		branches(2000) page[field] = @all<all@
		varargs(1000) page[field] = @all<all@
		protected(200) page[field] = @all<all@
		lengths(2000) page[field] = @all<all@
		closures(50) page[field] = @all<all@
		sorts() page[field] = @all<all@
		generators() page[field] = @all<all@
	end
end
return all
]==]

-- The line on which each is defined.
local lines, number, start = {}, 0, 0
for line in code:gmatch("([^\n]*)\n") do
	number = number + 1
	if line:find("function%(") or line:find("local function ") then start = number end
	local name = line:match("local function (%w+)") or line:match("%-%- function (%w+)")
	if name then lines[name] = start end
end
code = code:gsub("@(%w+)<(%w+)@", function(name, caller)
	return tostring(lines[caller] * 65536 + lines[name])
end)

if ... == "off" then jit.off() end
-- struct truth (truth.h): magic, state, and the stack, of one word: 0 until a function publishes.
local all = loadstring(code, "@traces_workload.lua")(page, 121)
page[0] = 0x6874757274796c75ULL
page[1] = 1
local pid = io.open("/proc/self/stat"):read("*n")
io.write(string.format("0x%x %d\n", tonumber(ffi.cast("uintptr_t", page)), pid))
io.flush()
all()
