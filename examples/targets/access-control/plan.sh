# The plan of docs/guide/case-studies/access-control.md. It needs no files.
serve access-control

# The card game alone, and the same behind the layer, in pairs.
loadline compare "$backend/pick" "$url/pick" -H 'X-Api-Key: key-of-the-shop' -c 10 --pairs 8 --warmup 500ms -d 2s --name layer

# Without a key.
loadline run "$url/pick" -n 1000 -c 10 --name no-key

# A guest at three quarters of the limit, and at twice the limit.
loadline run "$url/pick" -H 'X-Api-Key: key-of-a-guest' --rate 150/s --arrivals even -d 10s --name within-the-limit
loadline run "$url/pick" -H 'X-Api-Key: key-of-a-guest' --rate 400/s --arrivals even -d 10s --name above-the-limit
