#!/usr/bin/env bash
# Opens a million connections from this machine to itself, holds them and uses each some times: nginx on one end, loadline on the other, both
# in as many processes as it takes.
#
#   scripts/million.sh target/dist/loadline [CONNECTIONS]
#
# Both ends need about 11 GB of memory for a million. As root the kernel's bound on the memory of TCP is raised for the time of the run;
# without, some connections may fail where it is reached.
set -euo pipefail

loadline=$1
connections=${2:-1000000}
PATH="$PATH:/usr/sbin:/sbin"
files=$(ulimit -Hn)
if [ "$files" = unlimited ] || [ "$files" -gt 100000 ]; then files=100000; fi
# The system spreads connections over workers by chance, so each has room for a tenth more than its part.
workers=$((connections * 11 / 10 / (files - 100) + 1))
dir=$(mktemp -d)
bound=/proc/sys/net/ipv4/tcp_mem
before=$(cat $bound)

# shellcheck disable=SC2317 # called by trap
clear_up() {
    kill "$server" "$watch" 2> /dev/null || true
    wait 2> /dev/null || true
    if [ -w $bound ]; then echo "$before" > $bound; fi
    rm -rf "$dir"
}

available() { awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo; }

if [ -w $bound ]; then echo "4000000 5000000 6000000" > $bound; fi
places=$(for what in client_body proxy fastcgi uwsgi scgi; do echo "${what}_temp_path $dir/$what;"; done)
cat > "$dir/nginx.conf" << END
daemon off; pid $dir/pid; error_log $dir/errors;
worker_processes $workers; worker_rlimit_nofile $files; events { worker_connections $((files - 100)); }
http { access_log off; $places keepalive_timeout 1h; client_header_timeout 1h; keepalive_requests 1000000;
server { listen 127.0.0.1:28088 reuseport backlog=65535; location / { return 200 ok; } } }
END
nginx -e stderr -c "$dir/nginx.conf" &
server=$!
free=$(available)
echo "$free" > "$dir/least"
( while sleep 1; do now=$(available); [ "$now" -lt "$(cat "$dir/least")" ] && echo "$now" > "$dir/least"; done ) &
watch=$!
trap clear_up EXIT
until (exec 3<> /dev/tcp/127.0.0.1/28088) 2> /dev/null; do sleep 0.1; done

"$loadline" run http://127.0.0.1:28088/ -c "$connections" -n "$((connections * 3))" --timeout 10m --connect-timeout 2m --no-save \
    --out json="$dir/result.json"
sleep 1
own=$(grep -o '"memory_bytes_max": *[0-9]*' "$dir/result.json" | grep -o '[0-9]*$')
echo
echo "  $connections connections, $workers processes of nginx"
echo "  memory of both ends and the kernel together  $((free - $(cat "$dir/least"))) MiB"
echo "  loadline's own, its processes added up       $((own / 1048576)) MiB: $((own / connections)) bytes a connection"
