-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- What guests profile: `hottest` has most of the time, under three callers, while a coroutine waits
-- in `waiting`, which dump --all has to find. Calls are rare, for emulators interrupt a program where
-- it branches, and one that calls all the time is caught half way into a call more often than it is.
local function hottest(n)
	local sum = 0
	for i = 1, n do sum = (sum * 31 + i) % 65521 end
	return sum
end

local function middle(n)
	local texts = {}
	for i = 1, 10 do texts[i] = tostring(hottest(n)) end
	return table.concat(texts)
end

local function outer() return #middle(20000) end

local function waiting()
	while true do coroutine.yield() end
end

local waiter = coroutine.create(waiting)
coroutine.resume(waiter)
while true do outer() end
