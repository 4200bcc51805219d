-- What programs do, in Lua.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function words()
  local counts, list = {}, {}
  for i = 0, 8000 do local word = tostring(i * 7919 % 5003); counts[word] = (counts[word] or 0) + 1 end
  for word in pairs(counts) do list[#list + 1] = word end
  table.sort(list)
  return #list
end
local sum = 0
for i = 1, tonumber(arg[1] or 60) do sum = sum + fib(23) + words() end
print(sum)
