answers 200 GET /healthz '{"status":"ok"}'
answers 404 GET /nothing
loaded /healthz
