#!/usr/bin/env bash
# Tests the chart in deploy/helm, and makes the manifests in deploy/kubernetes from it.
#
#   scripts/kubernetes.sh test LOADLINE
#   scripts/kubernetes.sh write
#
# Helm comes from the Go module proxy, the descriptions of Kubernetes' objects from the Python package index; no cluster and no chart of
# anybody else's. Where they cannot be had (Debian 12's own Go is too old for Helm), one line says that the test was left out.
set -euo pipefail
cd "$(dirname "$0")/.."

# The newest Kubernetes that it describes is that of its own version.
version=1.37.0
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
python=$target/kubernetes/bin/python

leave_out() {
    [ "$1" = write ] || { echo "kubernetes: left out: $2"; exit 0; }
    echo "error: $2" >&2
    exit 1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
scripts/peers.sh helm 2> "$log" || leave_out "$1" "Helm could not be built: $(grep -v '^building' "$log" | tail -1)"
if [ "$("$target/kubernetes/bin/kubernetes-validate" --version 2> /dev/null || true)" != "$version" ]; then
    { python3 -m venv "$target/kubernetes" && "$target/kubernetes/bin/pip" install --quiet --disable-pip-version-check "kubernetes-validate==$version"; } > "$log" 2>&1 \
        || leave_out "$1" "kubernetes-validate could not be installed: $(tail -1 "$log")"
fi
HELM="$target/peers/helm" "$python" scripts/kubernetes.py "$@"
