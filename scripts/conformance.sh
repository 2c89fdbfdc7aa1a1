#!/usr/bin/env bash
# Holds loadline's HTTP/2 against h2spec, whose mode for clients is a server on this machine that keeps or breaks one rule of the standard
# a case, and judges what the client does then. loadline is started once for each.
#
#   scripts/conformance.sh LOADLINE             print the outcome; fails unless every case passes
#   WRITE=1 scripts/conformance.sh LOADLINE     the same, and write docs/conformance.md anew
#
# h2spec takes a connection that is closed for one that was refused. So loadline sends one request and then stays on the connection
# for longer than h2spec waits (1 s), and within what h2spec gives it at most (3 s): no case passes because the load was over.
set -euo pipefail
cd "$(dirname "$0")/.."
loadline=$(realpath "$1")

scripts/tools.sh go
scripts/peers.sh h2specd
h2specd=$(realpath "${CARGO_TARGET_DIR:-target}/peers/h2specd")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Behind a name of its own, since h2spec splits the command at blanks.
ln -s "$loadline" "$work/loadline"
command="$work/loadline run --http 2 -c 1 -d 1.8s --pause 1m --timeout 1s --no-preflight --no-save --quiet"

# Each case has a port; where one of them is taken, h2spec ends at once, and other ports are tried.
for attempt in 1 2 3; do
    timeout 300 "$h2specd" -f "$((20000 + RANDOM % 10000))" -o 1 -e "$command" > "$work/said" 2>&1 < /dev/null || true
    grep -q 'address already in use' "$work/said" || break
done
# When it ends it writes without end that its ports are closed; lines of cases begin with a carriage return, and failed ones hold bytes.
grep -av 'use of closed network connection' "$work/said" | tr -d '\000\r' > "$work/outcome" || true
cat "$work/outcome"

summary=$(sed -n 's/^\([0-9]* tests, .*failed\)$/\1/p' "$work/outcome")
passed=$(sed -n 's/^\([0-9]*\) tests, \1 passed, 0 skipped, 0 failed$/\1/p' <<< "$summary")
if [ -z "$passed" ]; then
    echo "error: h2spec: ${summary:-it did not finish}" >&2
    exit 1
fi
[ -n "${WRITE:-}" ] || exit 0
{
    echo "# HTTP/2 beside h2spec"
    echo
    echo "Written by \`make conformance WRITE=1\`; run it again to see for yourself. Nothing on this page is typed by hand."
    echo
    echo "On $(date +%F): $("$loadline" --version), h2spec $(sed -n 's/.*h2spec@\(v[0-9.]*\).*/\1/p' scripts/peers.sh). Of $passed cases $passed passed."
    echo
    echo "[h2spec](https://github.com/summerwind/h2spec) can be a server that keeps or breaks one rule of HTTP/2 a case and judges what the client does then."
    echo "loadline is started once for each case by [scripts/conformance.sh](../scripts/conformance.sh), and stays for longer than h2spec waits:"
    echo "no case passes because the load was over. What loadline does about frames that are out of order otherwise: [HTTP/2 of our own](decisions/http2.md)."
    echo
    echo "| section of RFC 7540 | case | passed |"
    echo "|---|---|---|"
    awk '/^Finished/ { exit }
        match($0, /^ *[0-9.]+\. /) { section = $0; sub(/^ */, "", section); sub(/\. /, " ", section) }
        match($0, /^ *✔ [0-9]+: /) { case_ = $0; sub(/^ *✔ [0-9]+: /, "", case_); print "| " section " | " case_ " | yes |" }' "$work/outcome"
} > docs/conformance.md
