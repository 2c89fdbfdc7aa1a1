// Everyday servers of net/http: everyday NAME. Each says where it listens.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"
)

var (
	body = make([]byte, 120)
	lock sync.Mutex
	// As a pool of ten connections to a database has.
	pool = make(chan struct{}, 10)
	kept [][]byte
)

func compute(span time.Duration) {
	for until := time.Now().Add(span); time.Now().Before(until); {
	}
}

func work(name string) {
	switch name {
	case "lock":
		// A cache that everybody locks while they fill it.
		lock.Lock()
		compute(time.Millisecond)
		lock.Unlock()
	case "sleeping-lock":
		lock.Lock()
		time.Sleep(5 * time.Millisecond)
		lock.Unlock()
	case "pool":
		pool <- struct{}{}
		time.Sleep(20 * time.Millisecond)
		<-pool
	case "computing":
		compute(2 * time.Millisecond)
	case "leak":
		lock.Lock()
		kept = append(kept, make([]byte, 64*1024))
		last := kept[len(kept)-1]
		for at := 0; at < len(last); at += 4096 {
			last[at] = 1
		}
		lock.Unlock()
		time.Sleep(2 * time.Millisecond)
	}
}

func main() {
	name := os.Args[1]
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		work(name)
		_, _ = answer.Write(body)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
