#!/usr/bin/env bash
# Tests the servers of examples/targets: each is started, asked, loaded for a moment and stopped, and may leave nothing behind.
#
#   scripts/targets.sh LOADLINE            all of them
#   scripts/targets.sh LOADLINE gin …      these
#
# A target whose tools are not on this machine is left out, and that is said: nobody needs Node.js or PostgreSQL to work on loadline.
# What the tools are to fetch (modules and packages that the lock files name) they fetch once.
set -euo pipefail
cd "$(dirname "$0")/.."
source examples/targets/serving.sh

given targets-test smoke.sh "$@"
export INSTALL=no
# How many requests make a load here.
requests=200

fail() {
    echo "error: $name: $*" >&2
    [ ! -e "${server_log:-}" ] || sed 's/^/  the server said: /' "$server_log" | tail -20 >&2
    exit 1
}

# The answer to one request, head and body. Without a tool of its own: curl is not everywhere.
asked() {
    local method=$1 path=$2
    shift 2
    exec 3<> "/dev/tcp/127.0.0.1/$port"
    {
        printf '%s %s HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n' "$method" "$path" "$port"
        [ $# -eq 0 ] || printf '%s\r\n' "$@"
        printf '\r\n'
    } >&3
    cat <&3
    exec 3>&-
}

# That a request is answered with this status, and with a body or head that holds this text.
#
#   answers 200 GET /healthz '{"status":"ok"}' ['Header: value' …]
answers() {
    local status=$1 method=$2 path=$3 text=${4:-} answer
    answer=$(asked "$method" "$path" "${@:5}" | tr -d '\0')
    [[ ${answer%%$'\r'*} == *" $status "* ]] || fail "$method $path was answered with '${answer%%$'\r'*}' instead of $status"
    [[ $answer == *"$text"* ]] || fail "the answer to $method $path has no '$text': ${answer#*$'\r\n\r\n'}"
}

# Sends $requests requests, whose result is then in $result.
load() {
    local path=$1 status=0
    shift
    result=$(mktemp "$state/result.XXXXXX")
    "$program" run "$url$path" "$@" -n "$requests" -c 4 --no-save --quiet --force --out "json=$result" > "$result.txt" || status=$?
    # 4 says that the machine was too busy to judge by: not what is tested here.
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ] || fail "loadline run $path ended with $status: $(cat "$result.txt")"
}

# How often a status was answered in the last load.
count() {
    local found
    found=$(tr -d ' \n' < "$result" | grep -o '"status":{[^}]*}' | grep -o "\"$1\":[0-9]*" | cut -d: -f2 || true)
    echo "${found:-0}"
}

# That every request of a load succeeds.
loaded() {
    load "$@"
    [ $(($(count 200) + $(count 201))) -eq "$requests" ] || fail "not all $requests requests to $1 succeeded: $(cat "$result.txt")"
}

# That some requests of a load are refused with this status, and others are not.
refused() {
    local status=$1
    shift
    load "$@"
    [ "$(count "$status")" -gt 0 ] && [ "$(count 200)" -gt 0 ] || fail "of $requests requests to $1 not some were refused with $status: $(cat "$result.txt")"
}

smoke() {
    local status=0
    trap 'leave_server || true' EXIT
    free_port
    serve "$name" || status=$?
    if [ "$status" -eq 77 ]; then
        echo "targets: $name left out: $(tail -1 "$server_log")"
        exit 0
    fi
    [ "$status" -eq 0 ] || fail "it did not start"
    source "examples/targets/$name/smoke.sh"
    leave_server || fail "it did not end when it was told to"
    if (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
        fail "somebody still listens on port $port"
    fi
    echo "targets: $name works"
}

for name in "${names[@]}"; do
    (smoke)
done
