# Sourced by whoever starts targets to use them: the smoke tests and the case studies.
#
# A server that a test leaves behind takes the next one's port, or the core it is measured on. So each is started as a group of its
# own, and is gone only when no process of that group is left; and each has a folder of its own, removed with it.
targets=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Reads what a script that uses targets was given, with its own name among make's: a loadline and names of targets, all of them if there
# are none. A target has FILE. Then $program is the loadline, and $names are the targets.
#
#   given case-studies plan.sh "$@"
given() {
    local maker=$1 file=$2 name recipe
    shift 2
    if [ $# -lt 1 ] || [ ! -x "$1" ]; then
        echo "error: '${1:-}' is no loadline" >&2
        echo "  help: make $maker builds one" >&2
        exit 2
    fi
    program=$(realpath "$1")
    shift
    names=("$@")
    if [ ${#names[@]} -eq 0 ]; then
        for recipe in "$targets"/*/"$file"; do
            names+=("$(basename "$(dirname "$recipe")")")
        done
    fi
    for name in "${names[@]}"; do
        if [ ! -e "$targets/$name/$file" ]; then
            echo "error: there is no target '$name' with a $file in examples/targets" >&2
            exit 2
        fi
    done
}

# A port with nobody on it, and the one above it as well: the one that is given, if it is so. Else one below the kernel's range for
# outgoing connections: a port out of that range may be taken by a connection of the load before the server has it.
free_port() {
    local tried candidate=${1:-}
    for tried in $(seq 100); do
        candidate=${candidate:-$((20000 + RANDOM % 6000 * 2))}
        if ! (: < "/dev/tcp/127.0.0.1/$candidate") 2> /dev/null && ! (: < "/dev/tcp/127.0.0.1/$((candidate + 1))") 2> /dev/null; then
            port=$candidate
            return
        fi
        candidate=
    done
    echo "error: no free port between 20000 and 32000 after $tried tries" >&2
    return 1
}

# Starts a target on $port, with settings such as POOL=4, and waits until it listens. Then $url is where, $state its folder, and
# $backend the address behind it, where it has one.
#
#   serve gin MIDDLEWARES=recovery,logger
serve() {
    local name=$1 waited
    shift
    # Short, because the path of a Unix socket in it may have 107 letters.
    state=$(mktemp -d /tmp/loadline-target.XXXXXX)
    url=http://127.0.0.1:$port
    backend=http://127.0.0.1:$((port + 1))
    server_log=$state.log
    env PORT="$port" STATE="$state" "$@" setsid "$targets/$name/start.sh" > "$server_log" 2>&1 < /dev/null &
    server=$!
    # What it needs may have to be downloaded and built first.
    for ((waited = 0; waited < 6000; waited++)); do
        if ! kill -0 "$server" 2> /dev/null; then
            local status=0
            wait "$server" || status=$?
            server=
            [ "$status" -ne 0 ] || status=1
            return "$status"
        fi
        if (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
            return 0
        fi
        sleep 0.1
    done
    echo "error: $name does not listen on port $port after ten minutes" >&2
    return 1
}

# Processes of the group $1 that still run; those that ended and that nobody has asked about are none.
group() {
    local stat fields group_wanted=$1
    for stat in /proc/[0-9]*/stat; do
        read -r fields 2> /dev/null < "$stat" || continue
        # The name of a process is in parentheses, and may hold some.
        set -- ${fields##*) }
        if [ "$3" = "$group_wanted" ] && [ "$1" != Z ]; then
            echo "${fields%% *}"
        fi
    done
}

# Ends the server that runs and all that belongs to it. Fails if that took force.
leave_server() {
    local waited forced=0
    if [ -n "${server:-}" ]; then
        kill -TERM "$server" 2> /dev/null || true
        for ((waited = 0; waited < 150; waited++)); do
            [ -n "$(group "$server")" ] || break
            sleep 0.1
        done
        if [ -n "$(group "$server")" ]; then
            echo "error: these processes did not end in 15 s: $(group "$server" | tr '\n' ' ')" >&2
            kill -KILL -- "-$server" 2> /dev/null || true
            forced=1
        fi
        wait "$server" 2> /dev/null || true
        server=
    fi
    if [ -n "${state:-}" ]; then
        rm -rf "$state" "$state.log"
        state=
    fi
    return "$forced"
}
