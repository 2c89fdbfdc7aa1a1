# The plan of docs/guide/case-studies/nethttp.md. It needs no files.
serve nethttp
loadline sweep "$url/healthz" --levels 1,2,5,10,20,50,100,200,500 --warmup 500ms -d 3s --name nethttp

# What users feel at half of what it carried.
half=$(value nethttp best.throughput / 2)
loadline run "$url/healthz" --rate "$half/s" -d 15s --name nethttp-at-half
