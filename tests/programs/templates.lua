-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- templates.lua same|own: compiles functions that differ in one constant only, all the time, runs
-- each for a moment and collects it, so that prototypes lie where others lay. Their chunk names are
-- all the same, or their own. "LINE name line", then now and then "SPENT name=us;...".

local mode = ...
local ROUNDS = 30000

-- Arguments, so that only callers name them.
local work = {}
local function keep(name, worker) work[name] = worker end
keep("alpha", function(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end)
keep("gamma", function(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end)
keep("delta", function(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end)
keep("omega", function(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end)

-- Of the 10 in each round; at random in between.
local deck = {"alpha", "alpha", "alpha", "alpha", "gamma", "gamma", "gamma", "delta", "delta", "omega"}
local spent = {}
for name, f in pairs(work) do
	spent[name] = 0
	print("LINE " .. name .. " " .. debug.getinfo(f, "S").linedefined)
end

local compile = loadstring or load
local clock = os.clock

while true do
	for _ = 1, 20 do
		local name = deck[math.random(#deck)]
		local f = compile("local work, n = ... work." .. name .. "(n) return 1",
			mode == "own" and "=tpl_" .. name or "=tpl")
		local begin = clock()
		f(work, math.random(ROUNDS, 2 * ROUNDS))
		spent[name] = spent[name] + (clock() - begin)
		f = nil
		collectgarbage()
	end
	local words = {}
	for name, seconds in pairs(spent) do
		words[#words + 1] = string.format("%s=%.0f", name, seconds * 1e6)
	end
	print("SPENT " .. table.concat(words, ";") .. ";")
	io.stdout:flush()
end
