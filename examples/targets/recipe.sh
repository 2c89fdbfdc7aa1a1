# Sourced at the head of every start.sh: where things are, and how a server gets what it needs.
#
# A recipe must leave the machine as it was: whatever it builds or downloads goes to target/targets or is ignored by git, and what a
# running server writes goes to a folder of its own, $state, which ends with it. Whoever starts several servers gives each its PORT
# and STATE; whoever starts one by hand gives neither.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
kept=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")/targets
port=${PORT:-8080}
mkdir -p "$kept"

# Where Debian's packages and Go's own archive put programs that are not on the path of every user.
PATH="$PATH:/usr/sbin:/sbin:/usr/local/go/bin"
for place in /usr/lib/postgresql/*/bin; do
    PATH="$PATH:$place"
done

# This status says "left out", as it does in other test runners.
LEFT_OUT=77

# Installs programs that are missing from Debian's packages; with INSTALL=no, as in tests, the target is left out instead.
programs() {
    local name
    for name in "$@"; do
        if ! command -v "$name" > /dev/null; then
            if [ "${INSTALL:-yes}" = no ]; then
                echo "there is no $name" >&2
                exit "$LEFT_OUT"
            fi
            "$root/scripts/tools.sh" "$name"
            # Its folder may be new.
            for place in /usr/lib/postgresql/*/bin; do
                PATH="$PATH:$place"
            done
        fi
    done
}

# Refuses a program that is older than what the lock file was written for: compilers say so in many words, or in none.
at_least() {
    local name=$1 wanted=$2 found=$3
    if [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -1)" != "$wanted" ]; then
        echo "$name is $found, and this takes $wanted or later" >&2
        exit "$LEFT_OUT"
    fi
}

# Builds the Go program of this folder with what go.sum names, and nothing later.
go_program() {
    programs go
    at_least Go "$(sed -n 's/^go //p' "$here/go.mod")" "$(GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//')"
    (cd "$here" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly go build -o "$kept/$1" .)
}

# Makes an environment with what requirements.txt names; targets that name the same share one. It is then $python.
python_environment() {
    programs python3
    python=$kept/python-$(sha256sum "$here/requirements.txt" | cut -c1-12)
    if [ ! -e "$python/complete" ]; then
        rm -rf "$python"
        # A Python without ensurepip cannot make one: Debian has that in a package of its own.
        if ! python3 -m venv "$python" > /dev/null 2>&1; then
            if [ "${INSTALL:-yes}" = no ]; then
                echo "Python cannot make an environment: python3-venv is missing" >&2
                exit "$LEFT_OUT"
            fi
            echo "error: Python cannot make an environment" >&2
            echo "  help: apt-get install python3-venv" >&2
            exit 1
        fi
        "$python/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$here/requirements.txt"
        touch "$python/complete"
    fi
}

# Installs what package-lock.json names, once for each lock file.
npm_packages() {
    programs node npm
    at_least Node 18.0.0 "$(node --version | sed 's/^v//')"
    if ! cmp -s "$here/package-lock.json" "$here/node_modules/.targets-lock"; then
        (cd "$here" && npm ci --silent --no-update-notifier)
        cp "$here/package-lock.json" "$here/node_modules/.targets-lock"
    fi
}

# A folder for what the running server writes.
running_folder() {
    if [ -n "${STATE:-}" ]; then
        state=$STATE
        mkdir -p "$state"
    else
        state=$(mktemp -d "${TMPDIR:-/tmp}/loadline-target.XXXXXX")
        own_state=yes
    fi
}

# Waits until the first of these processes ends, or someone ends this one; then ends them all, the last one first.
stay() {
    pids=("$@")
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap leave EXIT
    wait -n "${pids[@]}"
}

leave() {
    local at
    trap - EXIT
    trap '' INT TERM
    for ((at = ${#pids[@]} - 1; at >= 0; at--)); do
        kill "${pids[at]}" 2> /dev/null || true
        wait "${pids[at]}" 2> /dev/null || true
    done
    [ -z "${own_state:-}" ] || rm -rf "$state"
}
