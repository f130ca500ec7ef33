-- load_all.lua LIST: loads each file that LIST names, without running it, writes where the function
-- of its chunk is, and waits for a line of input.
local kept = {}
for name in io.lines((...)) do
	local chunk = loadfile(name)
	if chunk then
		kept[#kept + 1] = chunk
		io.write("chunk\t", name, "\t", string.match(tostring(chunk), "0x%x+"), "\n")
	end
end
io.write("ready\n")
io.stdout:flush()
io.read()
