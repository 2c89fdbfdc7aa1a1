#!/usr/bin/env bash
# Starts the baseline: Go's own net/http with one route. PORT (8080) is where.
source "$(dirname "$0")/../recipe.sh"

go_program nethttp
echo "net/http: http://127.0.0.1:$port/healthz, /debug/pprof/"
exec "$kept/nethttp" -listen "127.0.0.1:$port"
