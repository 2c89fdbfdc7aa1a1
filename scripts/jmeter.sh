#!/usr/bin/env bash
# Holds loadline's reading of test plans against JMeter itself: small plans of every kind are carried out by both against a server on
# this machine, and what it was asked is compared with each other and with docs/jmeter.md.
#
#   scripts/jmeter.sh LOADLINE [NAME…]        all plans, or these
#   WRITE=1 scripts/jmeter.sh LOADLINE        write docs/jmeter.md anew
#
# JMeter comes from its Maven artifacts. Nothing is sent anywhere but to that server.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/tools.sh python3 javac mvn
scripts/peers.sh jmeter
mode=check
if [ -n "${WRITE:-}" ]; then
    [ $# -eq 1 ] || { echo "error: the page is written of all plans; leave the names out" >&2; exit 2; }
    mode=write
fi
export PYTHONDONTWRITEBYTECODE=1
[ $# -gt 1 ] || python3 scripts/jmeter/dashboard.py "$1" "${CARGO_TARGET_DIR:-target}/peers/jmeter"
python3 scripts/jmeter/compare.py "$1" "${CARGO_TARGET_DIR:-target}/peers/jmeter" "$mode" "${@:2}"
