answers 200 GET /healthz '{"status":"ok"}'
answers 200 GET '/get_result?a=10&b=20' '{"result":30}'
answers 400 GET '/get_result?a=ten&b=20' 'whole numbers'
answers 200 GET /debug/pprof/ goroutine
loaded /healthz
