#!/usr/bin/env bash
# Starts an API for notes and a PostgreSQL of its own behind it: a fresh data folder, a Unix socket in it, no port. PORT (8080) is where;
# POOL (4) is how many connections the API may have to the database.
source "$(dirname "$0")/../recipe.sh"

programs initdb psql
go_program database
running_folder

# PostgreSQL refuses to run as root.
user=()
if [ "$(id -u)" -eq 0 ]; then
    user=(setpriv --reuid=postgres --regid=postgres --init-groups)
    chown postgres "$state"
fi
chmod 700 "$state"
cd "$state"
# The data are thrown away, so the new folder need not be safe on disk; writes under load are, as everywhere.
"${user[@]}" initdb --pgdata=data --username=notes --auth=trust --encoding=UTF8 --no-locale --no-sync > initdb.log
"${user[@]}" postgres -D data -k "$state" -c listen_addresses= > postgres.log 2>&1 &
postgres=$!
until pg_isready --quiet --host="$state" --username=notes; do
    kill -0 "$postgres" 2> /dev/null || { cat postgres.log >&2; exit 1; }
    sleep 0.1
done
psql --quiet --no-psqlrc --host="$state" --username=notes --dbname=postgres --set=ON_ERROR_STOP=1 --file="$here/schema.sql"
echo "$postgres" > postgres.pid
echo "notes: http://127.0.0.1:$port/notes/1, /slow/1, /metrics, /debug/pprof/; PostgreSQL is process $postgres, psql -h $state -U notes postgres"
"$kept/database" -listen "127.0.0.1:$port" -database "host=$state user=notes dbname=postgres" -pool "${POOL:-4}" &
stay "$postgres" $!
