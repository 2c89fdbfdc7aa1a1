-- Sends the requests of a file again, in order, from the start when it is through: "METHOD PATH [BODY]" in each line.
--
--   loadline run -s examples/lua/replay.lua http://127.0.0.1:8080/ -- requests.txt
--
-- Every thread begins at another place, so that not all ask for the same at the same time.
local requests = {}
local place = 0
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  local path = args[1] or error("name the file of requests after --")
  for line in io.lines(path) do
    local method, target, body = line:match("^(%u+)%s+(%S+)%s*(.*)$")
    if method then
      if body == "" then body = nil end
      -- A table of its own for each, since wrk.format writes Content-Length into it.
      local headers = { Host = wrk.headers.Host }
      requests[#requests + 1] = wrk.format(method, target, headers, body)
    elseif line:match("%S") then
      error("not 'METHOD PATH [BODY]': " .. line)
    end
  end
  if #requests == 0 then error(path .. " holds no request") end
  place = number * 7 % #requests
end

function request()
  place = place % #requests + 1
  return requests[place]
end
