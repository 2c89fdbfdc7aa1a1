# The plan of docs/guide/case-studies/gin.md. It needs no files.
levels=1,2,5,10,20,50,100,200

serve nethttp
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 2s --name native
leave_server

serve gin
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 2s --name gin
profile_during gin-cpu 2 5 "$url/debug/pprof/profile"
loadline run "$url/healthz" -c 50 -d 8s --name gin-profiled
profile_top gin-cpu
leave_server

serve gin MIDDLEWARES=requestid,context,recovery,logger,nocache
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 2s --name gin-without-dump
leave_server
loadline diff "$out/gin.json" "$out/gin-without-dump.json"

# The same question in pairs: here loadline starts and ends both servers itself.
cd "$kept"
gin="./gin -listen 127.0.0.1:$port -middlewares requestid,context,recovery,logger,nocache"
loadline compare --a "$gin,dump" --b "$gin" --url "$url/healthz" -c 20 --pairs 12 -d 1500ms --name dump

serve gin MIDDLEWARES=
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 2s --name gin-bare
