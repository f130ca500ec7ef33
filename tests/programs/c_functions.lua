-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Works in functions of C: of the library, of a module, and in some that only a local knows. Run by
-- host.

local burn_unnamed = burn_unnamed
_G.burn_unnamed = nil
package.loaded.mine = {burn = burn}
_G.burn = nil
local mine = package.loaded.mine
local pieces = {}
for i = 1, 5000 do
	pieces[i] = "piece"
end
local text = string.rep("x", 300)

print("ready")
io.stdout:flush()
while true do
	string.rep("abc", 50000)
	table.concat(pieces)
	mine.burn(1000)
	burn_unnamed(1000)
	-- Its iterator is nowhere but on the stack, and looks for long.
	for _ in string.gmatch(text, "(x-)y") do
	end
end
