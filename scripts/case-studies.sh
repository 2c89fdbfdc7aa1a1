#!/usr/bin/env bash
# Runs the plans of examples/targets and writes what they measured into docs/guide/case-studies.
#
#   scripts/case-studies.sh LOADLINE            all of them (about 12 minutes)
#   scripts/case-studies.sh LOADLINE gin …      these
#
# A figure that someone copied into a page is one that nobody can check. So pages name what they show between markers, and
# scripts/case_studies.py fills it in from the files of these runs; the command lines on a page are those that ran.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
source examples/targets/serving.sh

if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "error: '${1:-}' is no loadline" >&2
    echo "  help: make case-studies builds one" >&2
    exit 2
fi
program=$(realpath "$1")
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(nethttp gin flask-sum flask-fibonacci card-game access-control database)
kept=$(realpath -m "${CARGO_TARGET_DIR:-target}")/targets
scripts/tools.sh python3

# Runs loadline with what every line of a plan has in common, and keeps its words and its command line.
loadline() {
    local command=$1 name='' common status=0 at
    for ((at = 1; at <= $#; at++)); do
        [ "${!at}" != --name ] || { at=$((at + 1)); name=${!at}; }
    done
    case "$command" in
        run) common=(--no-save --quiet --out "json=$out/$name.json" --out "markdown=$out/$name.md") ;;
        diff)
            name=$(basename "$2" .json)_$(basename "$3" .json)
            common=(--dir "$out")
            ;;
        *) common=(--no-save --quiet --dir "$out") ;;
    esac
    printf '%s\0' "$url" "$backend" "$out" loadline "$@" > "$out/$name.command"
    echo "  loadline $command $name" >&2
    "$program" "$@" "${common[@]}" --force > "$out/$name.txt" 2> "$out/$name.err" || status=$?
    # A check that was broken (1) and a measurement that is not good enough (4) are results; pages show them as such.
    if [ "$status" -ne 0 ] && [ "$status" -ne 1 ] && [ "$status" -ne 4 ]; then
        echo "error: loadline $command ended with $status:" >&2
        cat "$out/$name.txt" "$out/$name.err" >&2
        return 1
    fi
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

# Fetches a profile of SECONDS seconds while the next load runs, AFTER seconds from now.
#
#   profile_during NAME AFTER SECONDS URL
profile_during() {
    (sleep "$2" && python3 -c 'import sys, urllib.request; open(sys.argv[2], "wb").write(urllib.request.urlopen(sys.argv[1]).read())' \
        "$4?seconds=$3" "$out/$1.pb.gz") &
    profiling=$!
}

# The profile as a table, by whoever can read it: loadline, or the tool that comes with Go.
profile_top() {
    wait "$profiling"
    local reader=("$program" profile top --sort cum --rows 60)
    if ! "$program" profile top --help > /dev/null 2>&1; then
        PATH="$PATH:/usr/local/go/bin"
        reader=(go tool pprof -top -cum -nodecount=60)
    fi
    "${reader[@]}" "$out/$1.pb.gz" > "$out/$1.txt" 2> "$out/$1.err"
    printf '%s\0' "$url" "$backend" "$out" "${reader[@]/#$program/loadline}" "$1.pb.gz" > "$out/$1.command"
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
    if [ ! -e "examples/targets/$name/plan.sh" ]; then
        echo "error: there is no plan of '$name' in examples/targets" >&2
        exit 2
    fi
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
    python3 "$root/scripts/case_studies.py" "$kept/studies/$name" "$root/docs/guide/case-studies/$name.md"
    echo "  $((SECONDS - began)) s" >&2
done
exit "$unfinished"
