-- Ends a thread's load with the first answer that is an error, and shows that answer.
--
--   loadline run -s examples/lua/stop.lua http://127.0.0.1:8080/
function response(status, headers, body)
  if status >= 400 then
    io.stderr:write("stopped by status ", status, ": ", body:sub(1, 200), "\n")
    wrk.thread:stop()
  end
end
