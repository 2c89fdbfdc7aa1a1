// A server of gRPC for the tests: grpc-go's own, with the service of its interoperability tests, that counts what it was asked.
//
// It listens on a free port of 127.0.0.1, writes its address, and behind it the counts as JSON for each line that it reads; it ends with its
// standard input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
)

// What was asked.
type counts struct {
	Unary     int            `json:"unary"`
	Streams   int            `json:"streams"`
	Received  int            `json:"received"`
	Sent      int            `json:"sent"`
	Deadlines int            `json:"deadlines"`
	Teams     map[string]int `json:"teams"`
	Bodies    map[string]int `json:"bodies"`
	Peers     map[string]int `json:"peers"`
	Agents    map[string]int `json:"agents"`
}

type server struct {
	testpb.UnimplementedTestServiceServer
	lock sync.Mutex
	seen counts
}

func (s *server) note(ctx context.Context, count func(*counts)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if _, has := ctx.Deadline(); has {
		s.seen.Deadlines++
	}
	if said, has := metadata.FromIncomingContext(ctx); has {
		for _, team := range said.Get("x-team") {
			s.seen.Teams[team]++
		}
		for _, agent := range said.Get("user-agent") {
			s.seen.Agents[agent]++
		}
	}
	if from, has := peer.FromContext(ctx); has {
		s.seen.Peers[from.Addr.String()]++
	}
	count(&s.seen)
}

func asked(said *testpb.EchoStatus) error {
	if said == nil || said.GetCode() == 0 {
		return nil
	}
	return status.Error(codes.Code(said.GetCode()), said.GetMessage())
}

func (s *server) EmptyCall(ctx context.Context, _ *testpb.Empty) (*testpb.Empty, error) {
	s.note(ctx, func(seen *counts) { seen.Unary++ })
	return &testpb.Empty{}, nil
}

func (s *server) UnaryCall(ctx context.Context, request *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	body := string(request.GetPayload().GetBody())
	s.note(ctx, func(seen *counts) {
		seen.Unary++
		if len(seen.Bodies) < 10000 {
			seen.Bodies[body]++
		}
	})
	if err := asked(request.GetResponseStatus()); err != nil {
		return nil, err
	}
	if body == "wait" {
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	answer := &testpb.SimpleResponse{Username: body, Payload: &testpb.Payload{Body: make([]byte, request.GetResponseSize())}}
	return answer, nil
}

func (s *server) StreamingOutputCall(request *testpb.StreamingOutputCallRequest, stream testpb.TestService_StreamingOutputCallServer) error {
	s.note(stream.Context(), func(seen *counts) { seen.Streams++ })
	for _, wanted := range request.GetResponseParameters() {
		time.Sleep(time.Duration(wanted.GetIntervalUs()) * time.Microsecond)
		answer := &testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: make([]byte, wanted.GetSize())}}
		if err := stream.Send(answer); err != nil {
			return err
		}
		s.note(context.Background(), func(seen *counts) { seen.Sent++ })
	}
	return asked(request.GetResponseStatus())
}

func (s *server) StreamingInputCall(stream testpb.TestService_StreamingInputCallServer) error {
	s.note(stream.Context(), func(seen *counts) { seen.Streams++ })
	size := 0
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&testpb.StreamingInputCallResponse{AggregatedPayloadSize: int32(size)})
		}
		if err != nil {
			return err
		}
		size += len(request.GetPayload().GetBody())
		s.note(context.Background(), func(seen *counts) { seen.Received++ })
	}
}

func (s *server) FullDuplexCall(stream testpb.TestService_FullDuplexCallServer) error {
	s.note(stream.Context(), func(seen *counts) { seen.Streams++ })
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		s.note(context.Background(), func(seen *counts) { seen.Received++ })
		for _, wanted := range request.GetResponseParameters() {
			answer := &testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: make([]byte, wanted.GetSize())}}
			if err := stream.Send(answer); err != nil {
				return err
			}
			s.note(context.Background(), func(seen *counts) { seen.Sent++ })
		}
	}
}

func main() {
	certificate := flag.String("cert", "", "PEM file of a certificate: speak TLS")
	key := flag.String("key", "", "PEM file of its key")
	reflects := flag.String("reflect", "both", "versions of reflection: both, alpha or none")
	flag.Parse()
	var options []grpc.ServerOption
	if *certificate != "" {
		tls, err := credentials.NewServerTLSFromFile(*certificate, *key)
		if err != nil {
			panic(err)
		}
		options = append(options, grpc.Creds(tls))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	serving := grpc.NewServer(options...)
	counting := &server{seen: counts{Teams: map[string]int{}, Bodies: map[string]int{}, Peers: map[string]int{}, Agents: map[string]int{}}}
	testpb.RegisterTestServiceServer(serving, counting)
	healthpb.RegisterHealthServer(serving, health.NewServer())
	switch *reflects {
	case "both":
		reflection.Register(serving)
	case "alpha":
		registerAlpha(serving)
	}
	go serving.Serve(listener)
	fmt.Println(listener.Addr())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		counting.lock.Lock()
		told, err := json.Marshal(counting.seen)
		counting.lock.Unlock()
		if err != nil {
			panic(err)
		}
		fmt.Println(string(told))
	}
}
