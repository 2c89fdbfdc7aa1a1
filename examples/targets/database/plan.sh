# The plan of docs/guide/case-studies/database.md. It needs no files: ids and texts are made by templates.
levels=1,2,5,10,20,50,100

serve database POOL=4
observed=(--observe "port:$port" --observe "pid:$(cat "$state/postgres.pid")")
loadline sweep "$url/notes/{{random 1 10000}}" "${observed[@]}" --levels $levels --all-levels --warmup 500ms -d 3s --name reads

ask before-writing "$url/notes"
loadline run "$url/notes" --json '{"text":"note {{sequence}}"}' -n 5000 -c 10 "${observed[@]}" --name writes
ask after-writing "$url/notes"

observed+=(--observe "prometheus:$url/metrics" --metric 'pool_*')
loadline sweep "$url/slow/{{random 1 10000}}" "${observed[@]}" --levels $levels --all-levels --warmup 500ms -d 3s --name pool-of-4
loadline run "$url/slow/{{random 1 10000}}" "${observed[@]}" -c 20 -d 5s --name pool-of-4-at-20
leave_server

serve database POOL=16
observed=(--observe "port:$port" --observe "pid:$(cat "$state/postgres.pid")" --observe "prometheus:$url/metrics" --metric 'pool_*')
loadline sweep "$url/slow/{{random 1 10000}}" "${observed[@]}" --levels $levels --all-levels --warmup 500ms -d 3s --name pool-of-16
loadline diff "$out/pool-of-4.json" "$out/pool-of-16.json"
