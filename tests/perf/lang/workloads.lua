-- The workloads of workloads.heddle as a Lua programmer writes them: lua5.4 workloads.lua NAME SIZE
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function tak(x, y, z)
  if y < x then return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) end
  return z
end

local function descend(n)
  if n == 0 then return 0 end
  return 1 + descend(n - 1)
end

local function build(n)
  local xs = nil
  for i = 0, n - 1 do xs = { i, xs } end
  return xs
end

local numbers
local run = {}
run.fib = fib
run.tak = function(n)
  local last
  for _ = 1, n do last = tak(18, 12, 6) end
  return last
end
run.loop = function(n)
  local x, i = 0, 0
  while i < n do
    x = x + 1
    i = i + 1
  end
  return x
end
run.map = function(n)
  local function f(x) return 2 * x + 1 end
  local xs, ys, sum = {}, {}, 0
  for i = 1, n do xs[i] = i - 1 end
  for i = 1, #xs do ys[i] = f(xs[i]) end
  for i = 1, #ys do sum = sum + ys[i] end
  return sum
end
run.append = function(n)
  local parts = {}
  for i = 1, n do parts[i] = "x" end
  return #table.concat(parts)
end
run.naive = function(n)
  local s = ""
  for _ = 1, n do s = s .. "x" end
  return #s
end
run.deep = descend
run.cons = function(n) return build(n)[1] end
run.rest = function()
  local xs, count = numbers, 0
  while xs do
    xs = xs[2]
    count = count + 1
  end
  return count
end

local name, size = arg[1], math.tointeger(tonumber(arg[2]))
if name == "rest" then numbers = build(size) end
local began = os.clock()
local result = run[name](size)
print(string.format("%d %.6f", result, os.clock() - began))
