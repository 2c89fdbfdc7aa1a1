// The baseline: what Go's own HTTP server does when it has nothing to do.
//
// A framework's figures mean little alone. This program answers the same JSON as the Gin API beside it, without a router, a
// middleware or a log, so that the difference between the two is what the framework and its middlewares cost. Go's profiler answers
// beside it, at /debug/pprof/, and costs nothing until it is asked.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	http.HandleFunc("/healthz", func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Type", "application/json")
		io.WriteString(answer, `{"status":"ok"}`)
	})
	log.Fatal(http.ListenAndServe(*listen, nil))
}
