-- The table `wrk` as scripts know it, and the doors the engine comes in by.
--
-- What runs once a request is written in Lua: a call from compiled Lua into Rust leaves the trace it was compiled into.
local native = ...
local type, tostring, next, pairs, ipairs, pcall, error, newproxy = type, tostring, next, pairs, ipairs, pcall, error, newproxy
local concat, getmetatable, setmetatable = table.concat, getmetatable, setmetatable
local getinfo = debug and debug.getinfo
local flush = io and io.stdout and function() io.stdout:flush() end or function() end
-- Whole lines leave at once: the report of the program stands in the same file.
if io and io.stdout then io.stdout:setvbuf("line") end
if package then
  for where, more in pairs({ path = native.modules, cpath = native.binaries }) do
    if not package[where]:find(more, 1, true) then package[where] = package[where] .. ";" .. more end
  end
end
local has_buffer, buffers = false, nil
local has_ffi, ffi = false, nil
if require then
  has_buffer, buffers = pcall(require, "string.buffer")
  has_ffi, ffi = pcall(require, "ffi")
end

-- Objects are userdata without data, as wrk's are userdata: `type` says so, and nothing else can be put into them.
local function object(meta)
  local made = newproxy(true)
  local its = getmetatable(made)
  for name, value in pairs(meta) do its[name] = value end
  return made
end

local sockets = setmetatable({}, { __mode = "k" }) -- what an address object stands for

-- wrk writes no brackets around IPv6 addresses.
local function address(socket)
  local made = object({ __tostring = function() return (socket:gsub("[%[%]]", "")) end })
  sockets[made] = socket
  return made
end

local function thread_object(own)
  local methods = {
    get = function(_, name) return own.get(name) end,
    set = function(_, name, value) own.set(name, value) end,
    stop = function() own.stop() end,
  }
  return object({
    __index = function(_, field)
      if field ~= "addr" then return methods[field] end
      local socket = own.address()
      return socket and address(socket)
    end,
    __newindex = function(_, field, value)
      if field ~= "addr" or not sockets[value] then error("cannot set '" .. type(value) .. "' on thread", 2) end
      own.direct(sockets[value])
    end,
  })
end

local function statistics_object(own)
  local function percentile(_, p) return own.percentile(p) end
  return object({
    __index = function(_, field)
      if field == "percentile" then return percentile end
      if own.ranked and type(field) == "number" then return own.ranked(field) end
      -- As in wrk, any name it does not know is itself.
      return own[field] or field
    end,
    __len = function() return own.count end,
    __call = own.at and function(_, place) return own.at(place) end,
  })
end

local function lookup(host, service)
  local found = native.lookup(host, service)
  for place, socket in ipairs(found) do found[place] = address(socket) end
  return found
end

wrk = {
  scheme = native.scheme, host = native.host, port = native.port, path = native.path,
  method = native.method, body = native.body, headers = native.headers,
  lookup = lookup, time_us = native.time_us,
  connect = function(to) return native.connect(sockets[to] or error("not an address: " .. tostring(to), 2)) end,
}
local wrk = wrk

-- Writes the head of a request, Host first, into a list of strings or a buffer.
local head
if has_buffer then
  local buffer = buffers.new(1024)
  -- Writes one header, and tells the next.
  local function line(headers, name, value)
    if name ~= "Host" then
      if type(value) == "string" then buffer:put(name, ": ", value, "\r\n")
      else buffer:put(name, ": ", tostring(value), "\r\n") end
    end
    return next(headers, name)
  end
  function head(method, path, headers, body)
    local host = headers.Host
    buffer:reset():put(method, " ", path, " HTTP/1.1\r\n")
    if host ~= nil then buffer:put("Host: ", tostring(host), "\r\n") end
    -- A loop that is run through once or twice keeps LuaJIT from compiling all that calls it, up to `request` itself. So the first
    -- headers are written without one.
    local name, value = next(headers)
    if name ~= nil then name, value = line(headers, name, value) end
    if name ~= nil then name, value = line(headers, name, value) end
    if name ~= nil then name, value = line(headers, name, value) end
    if name ~= nil then name, value = line(headers, name, value) end
    if name ~= nil then name, value = line(headers, name, value) end
    if name ~= nil then name, value = line(headers, name, value) end
    while name ~= nil do name, value = line(headers, name, value) end
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
local function moved() return response ~= looked_at end

-- The string whose bytes are there now.
local text
if has_ffi then
  local cast, string, bytes = ffi.cast, ffi.string, ffi.typeof("const char *")
  function text(at, length) return string(cast(bytes, at), length) end
end

local wrong -- what `request` returned last, if it was no string

return {
  setup = function(thread) wrk.setup(thread_object(thread)) flush() end,
  init = function(args) wrk.init(args) flush() end,
  built = function() return wrk.request() end,
  request = function()
    local text = request()
    if type(text) == "string" then return text end
    wrong = text
  end,
  wrong = function() return wrong end,
  delay = function() return delay() end,
  done = function(summary, latency, requests)
    done(summary, statistics_object(latency), statistics_object(requests))
    flush()
  end,
  flush = flush,
  has = function(name) return type(_G[name]) == "function" end,
  thread = function(thread) wrk.thread = thread_object(thread) end,
  addrs = function(addrs)
    for place, socket in ipairs(addrs) do addrs[place] = address(socket) end
    wrk.addrs = addrs
  end,
  -- How many arguments `response` takes now.
  wants = function()
    looked_at = response
    return arguments(response)
  end,
  -- Shows an answer to a `response` that takes the status alone. True: it is another function now, and has not been called.
  status = function(status)
    if moved() then return true end
    response(status)
  end,
  answer = function(status, headers, body)
    response(status, headers, body)
    return moved()
  end,
  moved = moved,
  text = text,
}
