#!/usr/bin/env bash
# Starts the Gin API. PORT (8080) is where; MIDDLEWARES is which of them stand before a route ("" is none), in any order; LOG is
# where the logger and the dump write (/dev/null: they write as much, and nobody keeps it).
source "$(dirname "$0")/../recipe.sh"

go_program gin
echo "Gin: http://127.0.0.1:$port/healthz, /get_result?a=10&b=20, /debug/pprof/"
exec "$kept/gin" -listen "127.0.0.1:$port" -log "${LOG:-/dev/null}" \
    -middlewares "${MIDDLEWARES-requestid,context,recovery,logger,nocache,dump}"
