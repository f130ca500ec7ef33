-- Each step works for a while in a function that no caller calls by the name of its definition, or
-- that several callers call by different names.

local Order, Vector, M = {}, {}, {}
Order.__index, Vector.__index = Order, Vector

local function work()
	for _ = 1, 20000 do end
end

-- Given to table.sort as an argument.
local function by_size(a, b)
	work()
	return a < b
end

-- Called by two names that are both not its own.
function Order:add(item)
	for _ = 1, 20000 do end
	return item
end

local put, insert = Order.add, Order.add

-- A metamethod, which Lua calls.
function Vector.__add(a, b)
	for _ = 1, 20000 do end
	return a
end

Vector.__tostring = function(v)
	for _ = 1, 20000 do end
	return "vector"
end

-- Reached by a tail call.
function M.run(n)
	for _ = 1, 20000 * n do end
	return n
end

local function dispatch(name)
	return M[name](1)
end

local handlers = {
	onget = function()
		for _ = 1, 20000 do end
	end,
	["on put"] = function()
		for _ = 1, 20000 do end
	end,
}

local body = function()
	while true do
		for _ = 1, 20000 do end
		coroutine.yield()
	end
end

local chunk = assert((loadstring or load)([[
	local results = {}
	function results.compute(n)
		for _ = 1, 20000 do end
		return n
	end
	return results
]]))()

-- Without a name: an argument.
local function nameless()
	pcall(function()
		for _ = 1, 20000 do end
	end)
end

local function main()
	local v, each = setmetatable({}, Vector), coroutine.wrap(body)
	while true do
		table.sort({2, 1}, by_size)
		put(Order, 1)
		insert(Order, 2)
		v = v + v
		tostring(v)
		dispatch("run")
		for _, handler in pairs(handlers) do handler() end
		each()
		chunk["compute"](1)
		nameless()
	end
end

xpcall(main, print)
