// A server of HTTP/3 for the tests: quic-go's own, that counts what it was asked.
//
// It listens on a free port of 127.0.0.1, writes its address, and behind it the counts as JSON for each line that it reads; it ends with its
// standard input.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// What was asked.
type counts struct {
	Requests    int            `json:"requests"`
	Paths       map[string]int `json:"paths"`
	Bytes       int64          `json:"bytes"`
	Connections int            `json:"connections"`
	Agents      map[string]int `json:"agents"`
}

type service struct {
	lock sync.Mutex
	seen counts
}

func (s *service) count(request *http.Request, bytes int64) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.seen.Requests++
	s.seen.Paths[request.Method+" "+request.URL.Path]++
	s.seen.Agents[request.UserAgent()]++
	s.seen.Bytes += bytes
}

func (s *service) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	s.count(request, int64(len(body)))
	query := request.URL.Query()
	if wait, err := time.ParseDuration(query.Get("wait")); err == nil {
		time.Sleep(wait)
	}
	switch request.URL.Path {
	case "/echo":
		writer.Header().Set("Content-Type", request.Header.Get("Content-Type"))
		writer.Write(body)
	case "/status":
		code, _ := strconv.Atoi(query.Get("code"))
		writer.WriteHeader(code)
		fmt.Fprintf(writer, "status %d", code)
	case "/bytes":
		count, _ := strconv.Atoi(query.Get("count"))
		writer.Write(make([]byte, count))
	case "/moved":
		http.Redirect(writer, request, "/echo", http.StatusFound)
	case "/events":
		writer.Header().Set("Content-Type", "text/event-stream")
		for number := range 5 {
			fmt.Fprintf(writer, "data: %d\n\n", number)
			writer.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	case "/reset":
		panic(http.ErrAbortHandler)
	default:
		fmt.Fprintln(writer, "hello")
	}
}

// A way on which one packet of so many is lost, in either direction.
type lossy struct {
	net.PacketConn
	lose      int64
	out, back atomic.Int64
}

func (l *lossy) ReadFrom(into []byte) (int, net.Addr, error) {
	for {
		count, from, err := l.PacketConn.ReadFrom(into)
		if err != nil || l.out.Add(1)%l.lose != 0 {
			return count, from, err
		}
	}
}

func (l *lossy) WriteTo(packet []byte, to net.Addr) (int, error) {
	if l.back.Add(1)%l.lose == 0 {
		return len(packet), nil
	}
	return l.PacketConn.WriteTo(packet, to)
}

func main() {
	certificate := flag.String("cert", "", "PEM file of a certificate")
	key := flag.String("key", "", "PEM file of its key")
	at := flag.String("at", "127.0.0.1:0", "where to listen")
	streams := flag.Int64("streams", 100, "how many requests a connection has at once")
	lose := flag.Int64("lose", 0, "one packet of so many is lost on its way, in either direction")
	flag.Parse()
	pair, err := tls.LoadX509KeyPair(*certificate, *key)
	if err != nil {
		fail(err)
	}
	address, err := net.ResolveUDPAddr("udp", *at)
	if err != nil {
		fail(err)
	}
	var socket net.PacketConn
	socket, err = net.ListenUDP("udp", address)
	if err != nil {
		fail(err)
	}
	if *lose > 0 {
		socket = &lossy{PacketConn: socket, lose: *lose}
	}
	service := &service{seen: counts{Paths: map[string]int{}, Agents: map[string]int{}}}
	server := http3.Server{
		Handler:    service,
		TLSConfig:  http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}}),
		QUICConfig: &quic.Config{MaxIncomingStreams: *streams},
		ConnContext: func(ctx context.Context, _ *quic.Conn) context.Context {
			service.lock.Lock()
			defer service.lock.Unlock()
			service.seen.Connections++
			return ctx
		},
	}
	go func() { fail(server.Serve(socket)) }()
	fmt.Println(socket.LocalAddr())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		service.lock.Lock()
		told, err := json.Marshal(service.seen)
		service.lock.Unlock()
		if err != nil {
			fail(err)
		}
		fmt.Println(string(told))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "http3d:", err)
	os.Exit(1)
}
