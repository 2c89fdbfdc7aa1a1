-- The table `wrk` as scripts know it, and the doors the engine comes in by.
--
-- What runs once a request is written in Lua: a call from compiled Lua into Rust leaves the trace it was compiled into.
local native = ...
local type, tostring, pairs, pcall, error, unpack, select = type, tostring, pairs, pcall, error, unpack, select
local concat = table.concat
local getinfo = debug and debug.getinfo
local flush = io and io.stdout and function() io.stdout:flush() end or function() end
local has_buffer, buffers = false, nil
if require then has_buffer, buffers = pcall(require, "string.buffer") end

wrk = {
  scheme = native.scheme, host = native.host, port = native.port, path = native.path,
  method = native.method, body = native.body, headers = native.headers,
  lookup = native.lookup, connect = native.connect,
}
local wrk = wrk

-- Writes the head of a request, Host first, into a list of strings or a buffer.
local head
if has_buffer then
  local buffer = buffers.new(1024)
  function head(method, path, headers, body)
    local host = headers.Host
    buffer:reset():put(method, " ", path, " HTTP/1.1\r\n")
    if host ~= nil then buffer:put("Host: ", tostring(host), "\r\n") end
    for name, value in pairs(headers) do
      if name ~= "Host" then
        if type(value) == "string" then buffer:put(name, ": ", value, "\r\n")
        else buffer:put(name, ": ", tostring(value), "\r\n") end
      end
    end
    buffer:put("\r\n")
    if body then buffer:put(body) end
    return buffer:get()
  end
else
  function head(method, path, headers, body)
    local parts, n = { method, " ", path, " HTTP/1.1\r\n" }, 4
    local function line(name, value)
      parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = name, ": ", tostring(value), "\r\n"
      n = n + 4
    end
    if headers.Host ~= nil then line("Host", headers.Host) end
    for name, value in pairs(headers) do
      if name ~= "Host" then line(name, value) end
    end
    parts[n + 1], parts[n + 2] = "\r\n", body
    return concat(parts)
  end
end

function wrk.format(method, path, headers, body)
  method, path = method or wrk.method, path or wrk.path
  headers, body = headers or wrk.headers, body or wrk.body
  if not headers.Host then headers.Host = wrk.headers.Host end
  if body then
    body = tostring(body)
    headers["Content-Length"] = #body
  elseif headers["Content-Length"] ~= nil then
    headers["Content-Length"] = nil
  end
  return head(method, path, headers, body)
end

function wrk.resolve(host, service)
  local reachable = {}
  for _, address in pairs(wrk.lookup(host, service)) do
    if wrk.connect(address) then reachable[#reachable + 1] = address end
  end
  wrk.addrs = reachable
end

function wrk.setup(thread)
  if wrk.addrs and wrk.addrs[1] then thread.addr = wrk.addrs[1] end
  if type(setup) == "function" then setup(thread) end
end

function wrk.init(args)
  if not wrk.headers.Host then
    local host = wrk.host
    if host:find(":", 1, true) then host = "[" .. host .. "]" end
    wrk.headers.Host = wrk.port and host .. ":" .. wrk.port or host
  end
  if type(init) == "function" then init(args) end
  local request = wrk.format()
  wrk.request = function() return request end
end

-- Whether a function looks at so many arguments. One that names fewer cannot see the others.
local function arguments(f)
  if not getinfo then return 3 end
  local info = getinfo(f, "u")
  if info.isvararg then return 3 end
  return info.nparams > 3 and 3 or info.nparams
end

local looked_at -- the function `response` that was looked at last

return {
  setup = function(thread) wrk.setup(thread) flush() end,
  init = function(args) wrk.init(args) flush() end,
  built = function() return wrk.request() end,
  request = function() return request() end,
  delay = function() return delay() end,
  done = function(...) done(...) flush() end,
  flush = flush,
  has = function(name) return type(_G[name]) == "function" end,
  thread = function(thread) wrk.thread = thread end,
  addrs = function(addrs) wrk.addrs = addrs end,
  -- How many arguments `response` takes now.
  wants = function()
    looked_at = response
    return arguments(response)
  end,
  -- Shows an answer to a `response` that takes the status alone. True: it is another function now, and has not been called.
  status = function(status)
    if response ~= looked_at then return true end
    response(status)
  end,
  answer = function(status, headers, body)
    response(status, headers, body)
    return response ~= looked_at
  end,
}
