answers 200 GET /healthz '{"status":"ok"}'
answers 404 GET /nothing
answers 200 GET /debug/pprof/ goroutine
loaded /healthz
