-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Time goes to the C library functions: formatting, matching, joining, sorting.
local units = require("units")

local text = ("the quick brown fox jumps over the lazy dog "):rep(40)

local function describe(n)
	local parts = {}
	for i = 1, n do
		parts[i] = ("%08.3f %5d %-12s"):format(i / 7, i, "item")
	end
	return table.concat(parts, ",")
end

local function sorted(n)
	local list, value = {}, 1
	for i = 1, n do
		value = value * 16807 % 2147483647
		list[i] = value
	end
	table.sort(list)
	return list
end

units.forever(function()
	describe(500)
	text:gsub("(%w+) (%w+)", "%2 %1")
	text:upper():find("no such dog", 1, true)
	sorted(2000)
end)
