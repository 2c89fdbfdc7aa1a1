-- Counts in every thread, and collects the counts in done.
--
--   loadline run -t 2 -s examples/lua/threads.lua http://127.0.0.1:8080/
local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("name", "thread " .. #threads)
end

-- What done is to read must be global: it reads another state.
answers, errors = 0, 0

function response(status)
  answers = answers + 1
  if status >= 400 then errors = errors + 1 end
end

function done()
  for _, thread in ipairs(threads) do
    print(string.format("%s: %d answers, %d errors", thread:get("name"), thread:get("answers"), thread:get("errors")))
  end
end
