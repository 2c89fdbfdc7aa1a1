-- Sends a form with every request.
--
--   loadline run -s examples/lua/post.lua http://127.0.0.1:8080/answer
--
-- Nothing here runs while the load does: the request is built once, so this costs what no script costs.
wrk.method = "POST"
wrk.body = "question=6*7&answer=42"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
