-- Users that think: each waits 5 to 15 ms before its next request.
--
--   loadline run -c 100 -s examples/lua/think.lua http://127.0.0.1:8080/
--
-- The wait is no part of any request's time. Without a script the same is said by --pause 5ms..15ms.
function delay()
  return math.random(5, 15)
end
