#!/usr/bin/env bash
# Builds and tests the pages of web/.
#
#   scripts/web.sh build          the script and style that the binary carries, into web/dist
#   scripts/web.sh test           types, units, and every kind of page in Chromium
#   scripts/web.sh pictures DIR   a picture of every kind of page at two widths
#
# Nobody needs Node to build loadline: without it `build` says so and is done, and pages say that they have no charts.
set -euo pipefail
cd "$(dirname "$0")/.."

have_node() {
    command -v npm > /dev/null && command -v node > /dev/null \
        && node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)'
}

# What package-lock.json asks for, once for each lock file.
install() {
    if ! cmp -s web/package-lock.json web/node_modules/.loadline-lock; then
        npm --prefix web ci --silent
        cp web/package-lock.json web/node_modules/.loadline-lock
    fi
}

# A program with the scripts just built, as the tests have it, and where it is. A choice of packages would be built with other features,
# all of it anew.
program() {
    cargo test --workspace --locked --no-run --quiet
    echo "${CARGO_TARGET_DIR:-target}/debug/loadline"
}

# The pages, made by a program that has the script just built.
pages() {
    build
    cargo test --workspace --locked --no-run --quiet
    "${CARGO_TARGET_DIR:-target}/debug/examples/pages" target/pages
}

build() {
    install
    (cd web && npx --no-install tsc --noEmit && npx --no-install vite build --mode page --logLevel warn && npx --no-install vite build --mode app --logLevel warn)
}

case "${1:-}" in
    build)
        if have_node; then
            build
        else
            echo "pages are built without their charts: that takes npm and Node 20.19 or later" >&2
        fi
        ;;
    test | pictures)
        if ! have_node; then
            echo "error: the pages cannot be tested: npm or Node 20.19 is missing" >&2
            echo "  help: install Node 20.19 or later, which brings npm" >&2
            exit 1
        fi
        pages
        if [ "$1" = test ]; then
            (cd web && npx --no-install vitest run --reporter=dot)
            node web/tests/browser.mjs target/pages
            node web/tests/serve.mjs "$(program)"
        else
            node web/tests/browser.mjs target/pages --pictures "${2:?say where the pictures go}"
            node web/tests/serve.mjs "$(program)" --pictures "$2"
        fi
        ;;
    *)
        echo "web.sh: say build, test or pictures DIR" >&2
        exit 2
        ;;
esac
