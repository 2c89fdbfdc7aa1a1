-- A new path with every request: /item/1, /item/2, … in each thread.
--
--   loadline run -s examples/lua/counter.lua http://127.0.0.1:8080/
local number = 0

function request()
  number = number + 1
  return wrk.format(nil, "/item/" .. number)
end
