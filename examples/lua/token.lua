-- Fetches a token first, then sends it with every request.
--
--   loadline run -s examples/lua/token.lua http://127.0.0.1:8080/ -- /login /private
--
-- The server answers the first path with the token in the header X-Token. Until it has come, that path is asked for.
local token
local login, private

function init(args)
  login, private = args[1] or "/login", args[2] or "/private"
end

function request()
  if not token then return wrk.format("POST", login, { Host = wrk.headers.Host }, "user=load&password=test") end
  return wrk.format("GET", private)
end

function response(status, headers)
  if not token and status == 200 then
    token = headers["X-Token"] or headers["x-token"]
    wrk.headers["X-Token"] = token
  end
end
