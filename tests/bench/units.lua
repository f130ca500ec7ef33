-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- What the scripts share: a script is a unit of work, done again and again, of a few milliseconds
-- and always the same. A byte goes out after each: whoever counts them knows the throughput.

local units = {}

local write = io and io.write or write -- Luau has no io

function units.forever(work)
	if io then
		io.stdout:setvbuf("no")
	end
	while true do
		work()
		write(".")
	end
end

-- `depth` functions of which each calls the next, and the last calls `leaf`. They are different
-- functions, for a profiler may find a recursion cheaper.
function units.tower(depth, leaf)
	local call = "local function f%d(n)\n\tlocal sum = %s(n)\n\treturn sum + 1\nend"
	local text = { "local leaf = ..." }
	for i = 1, depth do
		local below = i == 1 and "leaf" or "f" .. i - 1
		text[#text + 1] = call:format(i, below)
	end
	text[#text + 1] = ("return f%d"):format(depth)
	local compile = loadstring or load -- 5.1's load takes no text
	return assert(compile(table.concat(text, "\n"), "@tower.lua"))(leaf)
end

-- Arithmetic, a table, and no call.
function units.leaf(n)
	local ring, sum = {}, 0
	for i = 1, 16 do
		ring[i] = i
	end
	for i = 1, n do
		local at = i % 16 + 1
		sum = (sum + ring[at] * i) % 65521
		ring[at] = sum
	end
	return sum
end

return units
