-- Three requests in one go: they are written at once, and answered one after the other on the same connection.
--
--   loadline run -s examples/lua/pipeline.lua http://127.0.0.1:8080/
--
-- The server has to support pipelining (HTTP/1.1, RFC 9112 §9.3.2). Each of the three counts as a request.
local batch

function init()
  batch = wrk.format("GET", "/a") .. wrk.format("GET", "/b?c=d") .. wrk.format("POST", "/e", nil, "f=g")
end

function request()
  return batch
end
