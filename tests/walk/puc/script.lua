-- A stack of many kinds of calls, as debug.getinfo tells it, and then a loop that never ends.
local blocks = {}

-- The calls of the running coroutine, from the caller of record() on.
local function record(first)
  local lines, level = { first }, 2
  while true do
    local info = debug.getinfo(level, "S")
    if not info then break end
    lines[#lines + 1] = info.what == "C" and "C" or info.source .. ":" .. info.linedefined
    level = level + 1
  end
  table.insert(blocks, 1, table.concat(lines, "\n"))
end

local function leaf(n)
  record()
  io.write(table.concat(blocks, "\n"), "\nready\n")
  io.flush()
  while true do n = n + 1 end
end

local object = setmetatable({}, {
  __index = function(_, key)
    local result = leaf(#key)
    return result
  end,
  __add = function(a)
    local result = a.field
    return result
  end,
})

local function by_gsub()
  string.gsub("text", "t", function()
    local result = object + 1
    return result
  end)
end

local function by_sort()
  table.sort({ 3, 2, 1 }, function(a, b)
    by_gsub()
    return a < b
  end)
end

local function recurse(n)
  if n == 0 then by_sort() else recurse(n - 1) end
  return n
end

local function by_wrap()
  local inner = coroutine.wrap(function()
    pcall(recurse, 10)
  end)
  record("C")
  inner()
end

local function by_iterator()
  for _ in function()
    by_wrap()
    return nil
  end do
    error("not reached")
  end
end

local function by_resume()
  local outer = coroutine.create(function(...)
    by_iterator(...)
  end)
  -- Coroutines that do not run, of which some have a stack.
  local idle = {}
  for i = 1, 20 do
    idle[i] = coroutine.wrap(function() recurse(0, coroutine.yield()) end)
    if i % 2 == 0 then idle[i]() end
  end
  record("C")
  coroutine.resume(outer, 1, 2, 3)
  return idle
end

local idle = by_resume()
print(idle)
