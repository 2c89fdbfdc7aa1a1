#!/usr/bin/env bash
# Starts nginx with API keys and a rate limit before the card game. PORT (8080) is where; BACKEND_PORT (one above) is the card game's.
source "$(dirname "$0")/../recipe.sh"

programs nginx
running_folder
backend_port=${BACKEND_PORT:-$((port + 1))}
PORT=$backend_port STATE="$state/game" "$here/../card-game/start.sh" &
game=$!
until (: < "/dev/tcp/127.0.0.1/$backend_port") 2> /dev/null; do
    kill -0 "$game" 2> /dev/null || { status=0; wait "$game" || status=$?; exit "$status"; }
    sleep 0.1
done
sed "s|@PORT@|$port|; s|@BACKEND@|$backend_port|; s|@STATE@|$state|" "$here/nginx.conf" > "$state/nginx.conf"
echo "nginx: http://127.0.0.1:$port/pick with -H 'X-Api-Key: key-of-the-shop', or key-of-a-guest at no more than 200 a second"
nginx -e "$state/error.log" -c "$state/nginx.conf" &
stay "$game" $!
