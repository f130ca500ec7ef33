#!/usr/bin/lua
local function f() end
function M.a.b:c(x,
  y) return function() end end
x = function() end
local y, z <const> = 1, function(...) end
local M = { run = function() end, sub = { ["deep"] = function() end, [1] = function() end }, function() end,
  a < b, function() end; q = a and function() end or function() end }
t["k"] = function() end
t[i] = function() end
t["a b"].c = function() end
f().x = function() end
pcall(function() local u = function() end end)
local cmp = cmp or function() end
goto done
::done:: g = function() end
while true do local w = function() end if x then h = function() end elseif y then else k = function() end end end
repeat rr = function() end until f(function() end)
for i = function() end, 2 do ii = function() end end
x = (function() end)()
setmetatable(T, { __index = function() end })
return { ret = function() end, function() end, m = f{ inn = function() end } }
