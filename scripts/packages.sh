#!/usr/bin/env bash
# Packages around one binary: a wheel, two of npm, .deb, .rpm and an archive, with their checksums.
#
#   scripts/packages.sh make target/dist/loadline target/packages
#   scripts/packages.sh test target/debug/loadline
#
# `make` puts the same bytes of the program into each. Files have the time of the last commit, so that the same commit gives the same packages.
# `test` makes them, takes each in as a user would, somewhere of its own, and calls what it put there.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

# This machine, as Node.js, Debian and RPM call it.
machine=$(uname -m)
case "$machine" in
    x86_64) node=x64 debian=amd64 ;;
    aarch64) node=arm64 debian=arm64 ;;
    *) echo "packages.sh: no name is known for a processor '$machine'" >&2; exit 2 ;;
esac

# Completions, man pages and licences, as every package has them.
surroundings() {
    local binary=$1 into=$2
    mkdir -p "$into/completions"
    "$binary" man "$into/man"
    for shell in bash zsh fish; do "$binary" completions "$shell" > "$into/completions/$shell"; done
    cp LICENSE-* README.md CHANGELOG.md "$into"
}

# Both packages of npm: the program of this system, and what is the same on all of them.
npm_packages() {
    local binary=$1 into=$2 work=$3
    mkdir -p "$work/system/bin" "$work/loadline"
    install -m 755 "$binary" "$work/system/bin/loadline"
    cp LICENSE-* "$work/system"
    cat > "$work/system/package.json" << END
{ "name": "@loadline/linux-$node", "version": "$version", "description": "The program loadline for Linux on $machine", "license": "MIT OR Apache-2.0",
  "os": ["linux"], "cpu": ["$node"], "files": ["bin"] }
END
    cp -r npm/bin npm/*.js npm/*.d.ts npm/README.md LICENSE-* "$work/loadline"
    sed "s/\"0\.0\.0\"/\"$version\"/" npm/package.json > "$work/loadline/package.json"
    for package in system loadline; do
        (cd "$work/$package" && npm pack --silent --pack-destination "$into" > /dev/null)
    done
}

make_packages() {
    local binary into work
    binary=$(realpath "$1")
    into=$(realpath -m "$2")
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # The folder of now.
    trap "rm -rf '$work'" EXIT
    rm -rf "$into"
    mkdir -p "$into"
    surroundings "$binary" "$work/around"
    scripts/python.sh wheel "$binary" "$into"
    npm_packages "$binary" "$into" "$work/npm"
    scripts/peers.sh nfpm
    export PACKAGE_BINARY=$binary PACKAGE_AROUND=$work/around PACKAGE_VERSION=$version PACKAGE_ARCH=$debian
    for kind in deb rpm; do
        "$target/peers/nfpm" package --config deploy/packages/nfpm.yaml --packager "$kind" --target "$into" > /dev/null
    done
    local folder=loadline-$version-linux-$machine
    mkdir -p "$work/$folder"
    cp -r "$work/around/." "$work/$folder"
    install -m 755 "$binary" "$work/$folder/loadline"
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" -c "$folder" | gzip -n > "$into/$folder.tar.gz"
    (cd "$into" && sha256sum -- * > SHA256SUMS)
}

# What a package put there answers with its version.
answers() {
    local what=$1
    shift
    [ "$("$@" --version)" = "loadline $version" ] || { echo "packages.sh: the program of the $what does not answer: $*" >&2; exit 1; }
    echo "packages: the $what is taken in, and its program answers"
}

test_packages() {
    local into=$target/packages/test at
    make_packages "$1" "$into"
    (cd "$into" && sha256sum --check --quiet SHA256SUMS)
    at=$(mktemp -d)
    # shellcheck disable=SC2064 # The folder of now.
    trap "rm -rf '$at'" EXIT
    tar -xzf "$into"/*.tar.gz -C "$at"
    answers archive "$at"/loadline-*/loadline
    # Into a folder that stands for a system: neither asks for root.
    mkdir -p "$at/deb/var/lib/dpkg/updates" "$at/rpm"
    touch "$at/deb/var/lib/dpkg/status"
    dpkg --root="$at/deb" --force-not-root --force-depends --force-script-chrootless --log=/dev/null -i "$into"/*.deb > /dev/null
    answers .deb "$at/deb/usr/bin/loadline"
    [ -e "$at/deb/usr/share/man/man1/loadline.1" ] && [ -e "$at/deb/usr/share/bash-completion/completions/loadline" ]
    rpm2cpio "$into"/*.rpm | (cd "$at/rpm" && cpio --quiet -idm)
    answers .rpm "$at/rpm/usr/bin/loadline"
    [ "$(rpm -qp --qf '%{VERSION} %{LICENSE}' "$into"/*.rpm 2> /dev/null)" = "$version MIT OR Apache-2.0" ]
    python3 -m venv "$at/venv"
    "$at/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$into"/*.whl
    answers wheel "$at/venv/bin/loadline"
    mkdir -p "$at/npm"
    echo '{ "private": true, "type": "module" }' > "$at/npm/package.json"
    # What is for other systems is left out as npm does: it is optional, and not there.
    (cd "$at/npm" && npm install --silent --no-audit --no-fund --offline "$into"/loadline-linux-*.tgz "$into/loadline-$version.tgz" > /dev/null)
    answers 'package of npm' "$at/npm/node_modules/.bin/loadline"
    cp npm/tests/index.test.js "$at/npm"
    (cd "$at/npm" && PATH="$at/npm/node_modules/.bin:$PATH" node --test --test-reporter=spec index.test.js)
    npx --yes --prefix web tsc --noEmit --strict --target es2022 --module nodenext --lib es2022,dom --types '' npm/index.d.ts
}

case "$1" in
    make) make_packages "$2" "$3" ;;
    test) test_packages "$2" ;;
    *) echo "packages.sh: make or test, not '$1'" >&2; exit 2 ;;
esac
