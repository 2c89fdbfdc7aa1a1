-- Looks at everything of every answer.
wrk.path = "/kilobyte"
bytes, marked = 0, 0

function response(status, headers, body)
  bytes = bytes + #body
  if status ~= 200 or headers["Content-Type"] ~= "text/plain" then marked = marked + 1 end
end
