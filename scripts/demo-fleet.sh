#!/usr/bin/env bash
# Shows a fleet on this machine: a NATS server, three agents that wait at it, the built-in API, and a sweep that comes from the agents. All of it
# is stopped again.
#
#   scripts/demo-fleet.sh target/release/loadline
set -euo pipefail

loadline=$(realpath "$1")
PATH="$PATH:/usr/sbin"
dir=$(mktemp -d)
started=()

# shellcheck disable=SC2317 # called by trap
clear_up() {
    exec 9>&-
    for process in "${started[@]}"; do kill "$process" 2> /dev/null || true; done
    wait 2> /dev/null || true
    rm -rf "$dir"
}
trap clear_up EXIT

listens() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

port=24222
api=28089
if listens $port || listens $api; then echo "demo-fleet.sh: somebody listens on port $port or $api already" >&2; exit 1; fi
nats="nats://127.0.0.1:$port"
nats-server -a 127.0.0.1 -p "$port" > "$dir/nats" 2>&1 &
started+=($!)
# Eight workers, 5 ms a request: 1,600 a second, which leaves the cores to the agents. It ends with its input.
exec 9> >(exec "$loadline" demo --serve "127.0.0.1:$api" --route '/get_result=pool=8:5ms' > "$dir/api" 2>&1)
for name in one two three; do
    "$loadline" agent --nats "$nats" --group demo --name "$name" 2> "$dir/$name" &
    started+=($!)
done
until listens "$port" && listens "$api"; do sleep 0.1; done
until [ "$("$loadline" agents "$nats/demo" --json | grep -c '"name"')" -eq 3 ]; do sleep 0.2; done

echo "\$ loadline agents $nats"
"$loadline" agents "$nats"
echo "\$ loadline sweep 'http://127.0.0.1:$api/get_result?a=10&b=20' --levels 2,8,32 --duration 2s --agents $nats/demo"
cd "$dir"
"$loadline" sweep "http://127.0.0.1:$api/get_result?a=10&b=20" --levels 2,8,32 --duration 2s --agents "$nats/demo" --no-save || true
echo "what the agent 'one' said of it:"
sed 's/^/  /' "$dir/one"
