-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- Chunks with names that no file should have as they are, one after the other, forever.

local compile = loadstring or load
local source = "local n = ... local x = 0 for i = 1, n do x = x + i % 7 end return x"
local names = {
	"=\255\254 invalid \192\175 \237\160\128 UTF-8",
	"=control \1\2\27[31m\127 characters",
	"=\194\155 C1 \226\128\174 and direction",
	"=quote \" backslash \\ </script> slash / end",
	"=new\nline\tand\rreturn",
	"=" .. string.rep("long ", 300),
	"=",
	"@",
	"",
	"@/file/name.lua",
	"return 'the text itself'",
	"the first line\nand a second",
	"=\240\159\140\153 moon",
	"=\240\159\140 cut",
	"=Source\",\"Name\":\"forged",
}
local chunks = {}
for i, name in ipairs(names) do
	chunks[i] = assert(compile(source, name))
end

local function call(f) f(20000) return 1 end
print("ready")
io.stdout:flush()
while true do
	for _, chunk in ipairs(chunks) do
		call(chunk)
	end
end
