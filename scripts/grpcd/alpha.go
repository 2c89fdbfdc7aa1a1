package main

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
)

// As servers do that were not updated for long: the older version of reflection alone.
func registerAlpha(serving *grpc.Server) {
	alpha.RegisterServerReflectionServer(serving, reflection.NewServer(reflection.ServerOptions{Services: serving}))
}
