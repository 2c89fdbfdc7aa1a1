#!/usr/bin/env bash
# Checks the licence and the origin of every dependency against deny.toml, without building anything.
#
# cargo-deny does this and more, but compiling it costs a test run several minutes. What may break a release, a licence
# nobody allowed or a source that is no registry, shows in `cargo tree` and `Cargo.lock` already.
set -euo pipefail
cd "$(dirname "$0")/.."

allowed=$(awk '/^\[/ { inside = ($0 == "[licenses]") } inside && /^allow = \[/ { list = 1; next } list && /^\]/ { list = 0 }
    list { gsub(/^[ \t]*"|",?[ \t]*$/, ""); print }' deny.toml)
if [ -z "$allowed" ]; then
    echo "error: deny.toml allows no licence at all: [licenses] allow = [ … ] was not found" >&2
    exit 1
fi

# Reads "crate<tab>SPDX expression" lines; prints those of which the expression cannot be met by allowed licences.
# Grammar: or := and {OR and}; and := one {AND one}; one := ( or ) | licence [WITH exception]. A slash is an old OR.
unmet() {
    awk -F'\t' -v allowed="$1" '
        BEGIN { count = split(allowed, list, "\n"); for (i = 1; i <= count; i++) may[list[i]] = 1 }
        function one(   yes, name) {
            if (word[at] == "(") { at++; yes = any(); if (word[at] != ")") broken = 1; at++; return yes }
            name = word[at++]
            if (name == "" || name == ")" || name == "AND" || name == "OR" || name == "WITH") broken = 1
            if (word[at] == "WITH") { name = name " WITH " word[at + 1]; at += 2 }
            return (name in may)
        }
        function all(   yes, next_one) { yes = one(); while (word[at] == "AND") { at++; next_one = one(); yes = yes && next_one } return yes }
        function any(   yes, next_all) { yes = all(); while (word[at] == "OR") { at++; next_all = all(); yes = yes || next_all } return yes }
        {
            text = $2; gsub(/\//, " OR ", text); gsub(/\(/, " ( ", text); gsub(/\)/, " ) ", text)
            delete word; words = split(text, word, " "); at = 1; broken = 0
            met = words > 0 && any()
            if (!met || broken || at <= words) print $1 "\t" ($2 == "" ? "no licence named" : $2)
        }'
}

# The check checks itself first: a rule that lets everything pass would look the same as a clean tree.
expect() {
    local outcome=met
    [ -z "$(printf 'x\t%s\n' "$1" | unmet $'MIT\nISC\nApache-2.0 WITH LLVM-exception')" ] || outcome=unmet
    [ "$outcome" = "$2" ] || { echo "error: scripts/licences.sh reads '$1' wrongly: $outcome" >&2; exit 1; }
}
expect "MIT" met
expect "GPL-3.0-only" unmet
expect "" unmet
expect "MIT OR GPL-3.0-only" met
expect "GPL-3.0-only/MIT" met
expect "MIT AND GPL-3.0-only" unmet
expect "(MIT OR GPL-3.0-only) AND ISC" met
expect "(MIT OR ISC) AND GPL-3.0-only" unmet
expect "Apache-2.0 WITH LLVM-exception" met
expect "Apache-2.0" unmet
expect "MIT GPL-3.0-only" unmet
expect "(MIT" unmet

# For the machine at hand: crates for other systems would have to be downloaded to be asked.
tree=$(cargo tree --workspace --locked --edges normal,build,dev --prefix none --format $'{p}\t{l}' | sed 's/ (\*)$//; /^$/d' | sort -u)
crates=$(printf '%s\n' "$tree" | wc -l)
bad=$(printf '%s\n' "$tree" | unmet "$allowed")
if [ -n "$bad" ]; then
    echo "error: these licences are not allowed by deny.toml:" >&2
    printf '%s\n' "$bad" | sed 's/^/  /' >&2
    echo "  help: choose another crate, or allow the licence in deny.toml if it may be linked into an MIT or Apache-2.0 program" >&2
    exit 1
fi

sources=$(grep '^source = ' Cargo.lock | sort -u)
if [ "$(printf '%s\n' "$sources" | wc -l)" -ne 1 ] || [[ $sources != 'source = "registry+'* ]]; then
    echo "error: Cargo.lock takes crates from elsewhere than the one registry:" >&2
    printf '%s\n' "$sources" | sed 's/^/  /' >&2
    exit 1
fi

# The pages' packages build and test them. MPL-2.0 is allowed here beside deny.toml's: what is not passed on binds nobody. That
# none is passed on is held by the second check, as the bundler puts into the binary whatever web/src imports.
npm=$(awk '/^    "node_modules\// { if (name != "") print name "\t" licence; split($0, part, "\""); name = part[2]; licence = "" }
    /^      "license": / { split($0, part, "\""); if (name != "") licence = part[4] }
    END { if (name != "") print name "\t" licence }' web/package-lock.json)
packages=$(printf '%s\n' "$npm" | grep -c . || true)
if [ "$packages" -ne "$(grep -c '^ *"node_modules/.*": {' web/package-lock.json)" ] || [ "$packages" -eq 0 ]; then
    echo "error: web/package-lock.json is not laid out as npm writes it: its licences cannot be read" >&2
    exit 1
fi
bad=$(printf '%s\n' "$npm" | unmet "$allowed"$'\nMPL-2.0')
if [ -n "$bad" ]; then
    echo "error: these licences of npm packages are allowed neither by deny.toml nor for tools:" >&2
    printf '%s\n' "$bad" | sed 's/^/  /' >&2
    exit 1
fi
imported=$(grep -rnE "^[[:space:]]*(import|export|\})[^;]*[[:space:]]from[[:space:]]*[\"'][^./\"']|(^|[^[:alnum:]])import[[:space:]]*\(?[\"'][^./\"']" web/src || true)
if [ -n "$imported" ]; then
    echo "error: web/src imports packages of npm, which then are part of the binary:" >&2
    printf '%s\n' "$imported" | sed 's/^/  /' >&2
    echo "  help: carry their notices in THIRD-PARTY.md, and hold their licences against deny.toml alone" >&2
    exit 1
fi
echo "licences: $crates crates, all allowed, all from one registry; $packages npm packages, none of them in the binary"
