# The plan of docs/guide/case-studies/gin.md. It needs no files.
levels=1,2,5,10,20,50,100
without_dump=requestid,context,recovery,logger,nocache

serve nethttp
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 1500ms --name native
leave_server

serve gin
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 1500ms --name gin
loadline run "$url/healthz" -c 20 -d 8s --profile "$url" --profile-out "$out/with-dump" --name gin-profiled
loadline profile top "$out/with-dump/cpu.pprof" --sort cum --rows 60
leave_server

serve gin MIDDLEWARES=$without_dump
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 1500ms --name gin-without-dump
loadline run "$url/healthz" -c 20 -d 8s --profile "$url" --profile-out "$out/without-dump" --name gin-without-dump-profiled
leave_server
loadline diff "$out/gin.json" "$out/gin-without-dump.json"
loadline profile diff "$out/with-dump/cpu.pprof" "$out/without-dump/cpu.pprof"

# The same question in pairs: here loadline starts and ends both servers itself.
cd "$kept"
gin="./gin -listen 127.0.0.1:$port -middlewares $without_dump"
loadline compare --a "$gin,dump" --b "$gin" --url "$url/healthz" -c 20 --pairs 8 -d 1500ms --profile "$url" --name dump

serve gin MIDDLEWARES=
loadline sweep "$url/healthz" --levels $levels --all-levels --warmup 500ms -d 1500ms --name gin-bare
