#!/usr/bin/env bash
# Draws the README's pictures from a real sweep: the endpoint of the demo API of which the truth is known
# (8 workers, 5 ms each, so 1,600 requests a second; it breaks above 150 requests at once).
#
#   scripts/readme-chart.sh LOADLINE DIR
set -euo pipefail
loadline=$1
dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$loadline" demo --quiet --dir "$work"
mkdir -p "$dir"
cp "$work/demo-get_result_qps_ttlb.svg" "$work/demo-get_result_successrate.svg" "$dir"
