-- Several paths, each in its share: of ten requests seven go to the list, two to an item, one to the search.
--
--   loadline run -s examples/lua/weighted.lua http://127.0.0.1:8080/
--
-- The shares are kept exactly, in a fixed order; for a random one take math.random(#cycle).
local weights = {
  { path = "/list", weight = 7 },
  { path = "/item/1", weight = 2 },
  { path = "/search?q=all", weight = 1 },
}

local cycle = {}
local place = 0

function init()
  -- Built here, once: the Host header is known by now.
  for _, one in ipairs(weights) do
    local text = wrk.format("GET", one.path)
    for _ = 1, one.weight do cycle[#cycle + 1] = text end
  end
end

function request()
  place = place % #cycle + 1
  return cycle[place]
end
