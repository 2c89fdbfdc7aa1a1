# The plan of docs/guide/case-studies/flask-fibonacci.md. It needs no files: the numbers are drawn by a template.
levels=1,2,5,10,20,50
fibonacci='fibonacci?n={{random 18 24}}'

serve flask-fibonacci THREADS=1
loadline sweep "$url/$fibonacci" --levels $levels --all-levels --warmup 500ms -d 4s --name one-thread
leave_server

serve flask-fibonacci THREADS=8
loadline sweep "$url/$fibonacci" --levels $levels --all-levels --warmup 500ms -d 4s --name eight-threads
leave_server

serve flask-fibonacci THREADS=8 CACHE=on
loadline sweep "$url/$fibonacci" --levels $levels --all-levels --warmup 500ms -d 4s --name eight-threads-cached
leave_server

loadline diff "$out/one-thread.json" "$out/eight-threads.json"
loadline diff "$out/eight-threads.json" "$out/eight-threads-cached.json"
