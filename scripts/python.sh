#!/usr/bin/env bash
# The Python package: builds its wheel around a binary, or tests the wheel in an environment of its own for each Python.
#
#   scripts/python.sh wheel target/dist/loadline target/packages
#   scripts/python.sh test target/debug/loadline python3.9 python3.13
#
# A test installs the wheel as a user would and nothing else of this repository: types by mypy, every function against the demo API, the
# pytest plugin in a pytest of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
# Later ones may check more, and a test is not to fail because of a date.
build=(hatchling==1.27.0)
check=(pytest==8.4.2 pandas pyyaml types-PyYAML mypy==1.18.2)

# An environment with these, in a folder of this name; one that is there is kept.
environment() {
    local python=$1 at=$2
    shift 2
    if [ "$(cat "$at/.holds" 2> /dev/null || true)" != "$*" ]; then
        rm -rf "$at"
        "$python" -m venv "$at" || { echo "error: Python cannot make an environment; help: apt-get install python3-venv" >&2; exit 1; }
        "$at/bin/pip" install --quiet --disable-pip-version-check "$@"
        echo "$*" > "$at/.holds"
    fi
}

wheel() {
    local binary into
    binary=$(realpath "$1")
    into=$(realpath -m "$2")
    environment python3 "$target/python/build" "${build[@]}"
    mkdir -p "$into"
    rm -f "$into"/loadline-*.whl
    LOADLINE_BINARY="$binary" "$target/python/build/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$into" ./python
}

case "$1" in
    wheel) wheel "$2" "$3" ;;
    test)
        binary=$2
        shift 2
        wheel "$binary" "$target/python/wheel"
        for python in "${@:-python3}"; do
            at=$target/python/$python
            environment "$python" "$at" "${check[@]}"
            "$at/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$target"/python/wheel/loadline-*.whl
            # The program is on the path of the environment, and answers.
            "$at/bin/loadline" --version
            "$at/bin/python" -m loadline --version > /dev/null
            (cd python && "$at/bin/mypy" --strict src/loadline tests && "$at/bin/python" -m pytest -q -p no:cacheprovider tests)
        done
        ;;
    *) echo "python.sh: wheel or test, not '$1'" >&2; exit 2 ;;
esac
