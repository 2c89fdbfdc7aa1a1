#!/usr/bin/env bash
# Starts the sum API in Flask, served by gunicorn. PORT (8080) is where; PROCESSES (20) is how many work.
source "$(dirname "$0")/../recipe.sh"

python_environment
echo "Flask: http://127.0.0.1:$port/get_result?a=10&b=20"
cd "$here"
# With --preload the workers are there as soon as the port is: each is a copy of a process that has read the program.
exec "$python/bin/gunicorn" --preload --workers "${PROCESSES:-20}" --bind "127.0.0.1:$port" --log-level warning \
    --worker-tmp-dir /dev/shm app:app
