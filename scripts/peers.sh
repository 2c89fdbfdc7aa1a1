#!/usr/bin/env bash
# Builds programs that are written in Go into target/peers: load testers, for the tests that compare reports and exchange results, and Helm.
#
#   scripts/peers.sh hey vegeta
#
# Debian has none of them in the version that is wanted, so they come from the Go module proxy, at a fixed version, and
# are kept: a second call does nothing.
set -euo pipefail

PATH="$PATH:/usr/local/go/bin"
cd "$(dirname "$0")/.."
peers="${CARGO_TARGET_DIR:-target}/peers"
case "$peers" in
    /*) ;;
    *) peers="$PWD/$peers" ;;
esac
mkdir -p "$peers"

# A module at its version, and where in it the program is.
module_of() {
    case "$1" in
        helm) echo helm.sh/helm/v3@v3.22.0 /cmd/helm ;;
        hey) echo github.com/rakyll/hey@v0.1.4 ;;
        vegeta) echo github.com/tsenart/vegeta/v12@v12.12.0 ;;
        *) echo "peers.sh: no module is known for '$1'" >&2; exit 2 ;;
    esac
}

for peer in "$@"; do
    found=$(module_of "$peer")
    read -r module place <<< "$found"
    # The version is part of the mark, so that another one is built when this file names another one.
    mark="$peers/.$peer-${module##*@}"
    if [ -x "$peers/$peer" ] && [ -e "$mark" ]; then
        continue
    fi
    if ! command -v go > /dev/null; then
        echo "error: $peer cannot be built: there is no Go" >&2
        echo "  help: scripts/tools.sh go" >&2
        exit 1
    fi
    echo "building $module" >&2
    # Not `go install`, which asks the proxy for all versions first; the version is known.
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && go mod init peers && go mod edit -require "$module" && go build -mod=mod -o "$peers/$peer" "${module%@*}$place") 2> "$work/log" || {
        cat "$work/log" >&2
        exit 1
    }
    rm -rf "$work" "$peers/.$peer-"*
    touch "$mark"
done
