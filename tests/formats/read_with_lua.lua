-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- read_with_lua.lua FILE: what Lua loads from a profile, a line for each function that is on a
-- stack: name, source (both in hexadecimal, "-" for none), line, flags, own and total time. Both
-- times are added up of the nodes, and have to be what the functions say.
local profile = dofile(arg[1])
local own, total = {}, {}

local function hex(text)
	return text and "=" .. text:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end) or "-"
end

for id, node in ipairs(profile.nodes) do
	assert(not node.parent == not node.func and (node.parent or 0) < id)
	if node.func then
		own[node.func] = (own[node.func] or 0) + node.self_us
		local above = profile.nodes[node.parent]
		while above.func and above.func ~= node.func do above = profile.nodes[above.parent] end
		if not above.func then total[node.func] = (total[node.func] or 0) + node.total_us end
	end
end
local all = 0
for _, category in ipairs(profile.categories) do
	all = all + profile.nodes[category.node].total_us
end
print(("all %d"):format(all))
for id, func in ipairs(profile.functions) do
	assert(func.self_us == (own[id] or 0) and func.total_us == (total[id] or 0))
	print(("%s %s %d %d %d %d"):format(hex(func.name), hex(func.source), func.line or 0,
		func.flags or 0, func.self_us, func.total_us))
end
