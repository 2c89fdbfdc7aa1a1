#!/usr/bin/env bash
# Runs the plans of examples/targets and writes what they measured into docs/guide/case-studies.
#
#   scripts/case-studies.sh LOADLINE            all of them (about 12 minutes)
#   scripts/case-studies.sh LOADLINE gin …      these
#   BRIEF=yes scripts/case-studies.sh …         only to see that the plans work: short loads, and no page is written
#
# A figure that someone copied into a page is one that nobody can check. So pages name what they show between markers, and
# scripts/case_studies.py fills it in from the files of these runs; the command lines on a page are those that ran.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
source examples/targets/serving.sh

given case-studies plan.sh "$@"
kept=$(realpath -m "${CARGO_TARGET_DIR:-target}")/targets
scripts/tools.sh python3

# Runs loadline with what every line of a plan has in common, and keeps its words and its command line.
loadline() {
    local command=$1 name='' common=() status=0 at words
    for ((at = 1; at <= $#; at++)); do
        [ "${!at}" != --name ] || { at=$((at + 1)); name=${!at}; }
    done
    case "$command" in
        run) common=(--no-save --quiet --out "json=$out/$name.json" --out "markdown=$out/$name.md" --force) ;;
        diff)
            name=$(basename "$2" .json)_$(basename "$3" .json)
            common=(--dir "$out" --force)
            ;;
        # It measures nothing and writes nothing: its files are named in full, and what it says is named after their folders.
        profile) name=profile-$2$(for at in "${@:3}"; do [ ! -f "$at" ] || printf -- '-%s' "$(basename "$(dirname "$at")")"; done) ;;
        *) common=(--no-save --quiet --dir "$out" --force) ;;
    esac
    printf '%s\0' "$url" "$backend" "$out" loadline "$@" > "$out/$name.command"
    echo "  loadline $command $name" >&2
    words=("$@")
    [ -z "${BRIEF:-}" ] || brief
    "$program" "${words[@]}" "${common[@]}" > "$out/$name.txt" 2> "$out/$name.err" || status=$?
    # A check that was broken (1) and a measurement that is not good enough (4) are results; pages show them as such.
    if [ "$status" -ne 0 ] && [ "$status" -ne 1 ] && [ "$status" -ne 4 ]; then
        echo "error: loadline $command ended with $status:" >&2
        cat "$out/$name.txt" "$out/$name.err" >&2
        return 1
    fi
}

# Makes the loads in $words as short as they can be.
brief() {
    local at
    for ((at = 0; at < ${#words[@]} - 1; at++)); do
        case "${words[at]}" in
            -d) words[at + 1]=2s ;;
            --levels) words[at + 1]=1,10 ;;
            --pairs) words[at + 1]=1 ;;
            --warmup) words[at + 1]=100ms ;;
        esac
    done
}

# A number out of a result, rounded down; with `/ N`, a part of it.
#
#   value nethttp best.throughput / 2
value() {
    python3 - "$out/$1.json" "$2" "${4:-1}" << 'END'
import json, sys
found = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    found = found[key]
if found is None:
    sys.exit(f"error: {sys.argv[1]} has no {sys.argv[2]}")
print(int(found / float(sys.argv[3])))
END
}

# What a page of the server says at this moment.
ask() {
    python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode().strip())' "$2" > "$out/$1.txt"
}

study() {
    trap 'leave_server || true' EXIT
    out=$kept/studies/$name
    rm -rf "$out"
    mkdir -p "$out"
    # Charts name the address.
    free_port 8080
    source "examples/targets/$name/plan.sh"
    leave_server
}

unfinished=0
for name in "${names[@]}"; do
    echo "$name" >&2
    began=$SECONDS
    # Not in a condition: there a subshell goes on after errors.
    set +e
    (set -e; study)
    status=$?
    set -e
    if [ "$status" -ne 0 ]; then
        echo "error: the case study $name was not finished; its page is as it was" >&2
        unfinished=1
        continue
    fi
    # Of short loads the page is made all the same, to see that it can be, and thrown away.
    page=$root/docs/guide/case-studies/$name.md
    if [ -n "${BRIEF:-}" ]; then
        mkdir -p "$kept/studies/brief"
        cp "$page" "$kept/studies/brief/$name.md"
        page=$kept/studies/brief/$name.md
    fi
    python3 "$root/scripts/case_studies.py" "$kept/studies/$name" "$page"
    echo "  $((SECONDS - began)) s" >&2
done
exit "$unfinished"
