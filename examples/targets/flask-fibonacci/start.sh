#!/usr/bin/env bash
# Starts the Fibonacci API in Flask, one process of gunicorn with threads. PORT (8080) is where; THREADS (8) is how many answer;
# CACHE=on lets it remember answers.
source "$(dirname "$0")/../recipe.sh"

python_environment
echo "Flask: http://127.0.0.1:$port/fibonacci?n=20 (threads: ${THREADS:-8}, cache: ${CACHE:-off})"
cd "$here"
export CACHE=${CACHE:-off}
exec "$python/bin/gunicorn" --preload --workers 1 --worker-class gthread --threads "${THREADS:-8}" --bind "127.0.0.1:$port" \
    --log-level warning --worker-tmp-dir /dev/shm app:app
