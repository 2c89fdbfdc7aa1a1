#!/usr/bin/env bash
# Holds the API of `loadline serve` against its description with schemathesis: some hundred requests, sound and unsound, whose
# answers must be as docs/api/openapi.json says.
#
# schemathesis comes from the Python package index into an environment of its own under target/; tests that happen to be sound go to the demo API, and
# nowhere else.
set -euo pipefail
cd "$(dirname "$0")/.."

# Later ones may check more, and a test is not to fail because of a date.
version=4.32.5
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
tools=$target/schemathesis
if [ "$("$tools/bin/schemathesis" --version 2> /dev/null | grep -o '[0-9.]*$' || true)" != "$version" ]; then
    python3 -m venv "$tools" || { echo "error: Python cannot make an environment; help: apt-get install python3-venv" >&2; exit 1; }
    "$tools/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi

# The program as the tests have it: a choice of packages would be built with other features, all of it anew.
cargo test --workspace --locked --no-run --quiet
home=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2> /dev/null || true; wait 2> /dev/null || true; rm -rf "$home"' EXIT

# Starts loadline and waits for the address it prints, which is then in $address. Not to be called in a subshell: its children would
# be nobody's to end.
begin() {
    local out=$1
    shift
    env XDG_DATA_HOME="$home" "$target/debug/loadline" "$@" > "$home/$out" 2>&1 &
    pids+=($!)
    for _ in $(seq 300); do
        grep -qo 'http://127\.0\.0\.1:[0-9]*' "$home/$out" && break
        sleep 0.1
    done
    address=$(grep -o -m1 'http://127\.0\.0\.1:[0-9]*' "$home/$out" | head -1)
}

begin demo demo --serve 127.0.0.1:0
demo=$address
for name in one two; do
    env XDG_DATA_HOME="$home" "$target/debug/loadline" run "$demo/healthz" -n 50 -c 2 --quiet --name "$name" > "$home/run" || [ $? -eq 4 ]
done
begin serve serve --listen 127.0.0.1:0 --allow-target "${demo#http://}"
api=$address

# What is sound by its types need not be a test that can start, or a run that is there. The stream goes on by design.
# What it remembers of failures belongs with it, not into the sources.
cd "$tools"
"$tools/bin/schemathesis" run "$api/api/v1/openapi.json" --url "$api" --max-examples 20 --seed 1 \
    --exclude-checks positive_data_acceptance --exclude-path /api/v1/live/stream --request-timeout 20 --no-color
