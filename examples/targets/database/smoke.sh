answers 200 GET /notes/1 '"text":"note 1"'
answers 200 GET /slow/10000 '"text":"note 10000"'
answers 404 GET /notes/20000 'no such note'
answers 400 GET /notes/one 'whole number'
answers 200 GET /notes '"notes":10000'
loaded '/notes/{{random 1 10000}}'
loaded /notes --json '{"text":"note {{sequence}}"}'
answers 200 GET /notes "\"notes\":$((10000 + requests))"
answers 200 GET /metrics 'pool_connections_max 4'
answers 200 GET /debug/pprof/ goroutine
