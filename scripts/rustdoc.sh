#!/usr/bin/env bash
# In rustdoc's place while documentation is tested (`RUSTDOC=scripts/rustdoc.sh cargo test`): runs the examples of a crate, and then documents
# it, private items too, without warnings.
#
# What it needs of other crates has been built for the tests by then; `cargo doc` would check all of them again, with other features. Programs
# have no tests of documentation: `make doc` documents these as well.
set -euo pipefail
rustdoc=$(rustup which rustdoc 2> /dev/null || echo "$(rustc --print sysroot)/bin/rustdoc")
"$rustdoc" "$@"
words=()
is_test=
while [ $# -gt 0 ]; do
    case "$1" in
        --test) is_test=yes ;;
        --test-args | --test-run-directory | --test-runtool | --test-runtool-arg | --persist-doctests) shift ;;
        --test-args=* | --test-run-directory=* | --test-runtool=* | --test-runtool-arg=* | --persist-doctests=* | --no-run | --nocapture) ;;
        *) words+=("$1") ;;
    esac
    shift
done
[ -n "$is_test" ] || exit 0
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
"$rustdoc" "${words[@]}" --document-private-items -D warnings -o "$pages"
