-- Takes from a state what reaches outside it, or what would let a script outlive its limits.
local native = ...
local pcall, xpcall, error, type, select, pairs, tostring = pcall, xpcall, error, type, select, pairs, tostring
local resume, wrap, create = coroutine.resume, coroutine.wrap, coroutine.create
local is_spent = native.is_spent

for _, name in pairs({
  "load", "loadstring", "loadfile", "dofile", "require", "module", "package", "collectgarbage", "getfenv", "setfenv",
  "newproxy", "debug", "ffi", "jit", "io", "os", "gcinfo",
}) do
  _G[name] = nil
end
string.dump = nil

-- A script that is over its limit must not catch the news.
local function rethrow(...)
  if is_spent() then error("the script is over the limit of its sandbox", 0) end
  return ...
end
function _G.pcall(...) return rethrow(pcall(...)) end
function _G.xpcall(...) return rethrow(xpcall(...)) end
function coroutine.resume(...) return rethrow(resume(...)) end
function coroutine.wrap(f)
  local inner = create(f)
  local function pass(ok, ...)
    if not ok then error((...), 0) end
    return ...
  end
  return function(...) return pass(rethrow(resume(inner, ...))) end
end

-- One call of these can take longer than all instructions allowed.
local PATTERN_BYTES_MAX = 128
for _, name in pairs({ "find", "match", "gmatch", "gsub" }) do
  local original = string[name]
  string[name] = function(text, pattern, ...)
    if type(pattern) == "string" and #pattern > PATTERN_BYTES_MAX and not (name == "find" and select(2, ...) == true) then
      error("a pattern of more than " .. PATTERN_BYTES_MAX .. " bytes", 2)
    end
    return original(text, pattern, ...)
  end
end

function _G.print(...)
  local words = {}
  for place = 1, select("#", ...) do words[place] = tostring((select(place, ...))) end
  native.print(table.concat(words, "\t") .. "\n")
end
