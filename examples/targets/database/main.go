// Notes in PostgreSQL, read and written over HTTP.
//
// A request holds a connection of the pool while the database works for it. If all are taken, the next request waits, and neither the
// server nor the database shows any load: the pool is the limit that is hardest to see. Its size can be chosen here, and /metrics tells
// how often and for how long requests waited for a connection. Go's profiler answers at /debug/pprof/.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Text of a note beyond this is refused.
const noteBytesMax = 10_000

type note struct {
	ID      int64     `json:"id"`
	Text    string    `json:"text"`
	Written time.Time `json:"written"`
}

type api struct {
	pool *pgxpool.Pool
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where to listen")
	database := flag.String("database", "", "where the database is, as psql takes it: host=/run/postgresql user=me dbname=postgres")
	size := flag.Int("pool", 4, "how many connections to the database may be open")
	flag.Parse()

	settings, err := pgxpool.ParseConfig(*database)
	if err != nil {
		log.Fatal(err)
	}
	settings.MaxConns = int32(*size)
	settings.MinConns = int32(*size)
	pool, err := pgxpool.NewWithConfig(context.Background(), settings)
	if err != nil {
		log.Fatal(err)
	}
	a := api{pool}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /notes/{id}", a.read("SELECT id, text, written FROM notes WHERE id = $1"))
	// The wait stands for a query that takes the database ten milliseconds without using a processor: a cold page, a lock, a remote table.
	routes.HandleFunc("GET /slow/{id}", a.read("SELECT id, text, written FROM notes, pg_sleep(0.01) WHERE id = $1"))
	routes.HandleFunc("GET /notes", a.count)
	routes.HandleFunc("POST /notes", a.write)
	routes.HandleFunc("GET /metrics", a.metrics)
	routes.HandleFunc("GET /debug/pprof/", pprof.Index)
	routes.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	log.Fatal(http.ListenAndServe(*listen, routes))
}

func (a api) read(query string) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		id, err := strconv.ParseInt(request.PathValue("id"), 10, 64)
		if err != nil {
			refuse(answer, http.StatusBadRequest, "the id of a note is a whole number")
			return
		}
		var found note
		err = a.pool.QueryRow(request.Context(), query, id).Scan(&found.ID, &found.Text, &found.Written)
		if errors.Is(err, pgx.ErrNoRows) {
			refuse(answer, http.StatusNotFound, "there is no such note")
			return
		}
		tell(answer, http.StatusOK, found, err)
	}
}

func (a api) count(answer http.ResponseWriter, request *http.Request) {
	var all struct {
		Notes int64 `json:"notes"`
	}
	err := a.pool.QueryRow(request.Context(), "SELECT count(*) FROM notes").Scan(&all.Notes)
	tell(answer, http.StatusOK, all, err)
}

func (a api) write(answer http.ResponseWriter, request *http.Request) {
	var sent note
	if err := json.NewDecoder(io.LimitReader(request.Body, noteBytesMax)).Decode(&sent); err != nil || sent.Text == "" {
		refuse(answer, http.StatusBadRequest, `a note is {"text": "…"}`)
		return
	}
	err := a.pool.QueryRow(request.Context(), "INSERT INTO notes (text) VALUES ($1) RETURNING id, written", sent.Text).Scan(&sent.ID, &sent.Written)
	tell(answer, http.StatusCreated, sent, err)
}

// metrics tells what the pool does, in Prometheus's text format.
func (a api) metrics(answer http.ResponseWriter, _ *http.Request) {
	now := a.pool.Stat()
	answer.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, metric := range []struct {
		name, kind, help string
		value            float64
	}{
		{"pool_connections_max", "gauge", "Connections to the database that may be open.", float64(now.MaxConns())},
		{"pool_connections_taken", "gauge", "Connections that a request has at the moment.", float64(now.AcquiredConns())},
		{"pool_taken_total", "counter", "Times that a request took a connection.", float64(now.AcquireCount())},
		{"pool_waited_total", "counter", "Times that a request had to wait for a connection.", float64(now.EmptyAcquireCount())},
		{"pool_taking_seconds_total", "counter", "Seconds that taking a connection took, waiting included.", now.AcquireDuration().Seconds()},
	} {
		fmt.Fprintf(answer, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", metric.name, metric.help, metric.name, metric.kind, metric.name, metric.value)
	}
}

func tell(answer http.ResponseWriter, status int, value any, err error) {
	if err != nil {
		refuse(answer, http.StatusServiceUnavailable, err.Error())
		return
	}
	answer.Header().Set("Content-Type", "application/json")
	answer.WriteHeader(status)
	json.NewEncoder(answer).Encode(value)
}

func refuse(answer http.ResponseWriter, status int, why string) {
	answer.Header().Set("Content-Type", "application/json")
	answer.WriteHeader(status)
	json.NewEncoder(answer).Encode(map[string]string{"error": why})
}
