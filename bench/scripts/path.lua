-- A new path for every request.
local number = 0

function request()
  number = number + 1
  return wrk.format("GET", "/item/" .. number)
end
