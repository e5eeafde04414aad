package faults

// What makes the faults that the proxy can't: those of the API server's process and of the program's.

import (
	"context"
	"errors"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/process"
)

// killAPIServer is F3.
func killAPIServer(ctx context.Context, s *session) (end func() error, err error) {
	end = func() error {
		if _, err := s.Cluster.Up(context.WithoutCancel(ctx), cluster.UpOptions{}); err != nil {
			return err
		}
		s.tell(theFault, "the API server is back")
		return nil
	}
	if err := s.Cluster.Kill(ctx, "kube-apiserver"); err != nil {
		return nil, errors.Join(err, end()) // it may have been killed all the same
	}
	return end, nil
}

// killProgram is F5.
func killProgram(ctx context.Context, s *session) (end func() error, err error) {
	first := s.replicas[0]
	return s.follow(ctx, first.proxy.AfterWrite(1, func(audit.Request) { first.program.Kill() })), nil
}

// addReplica is F7. Replicas are known by their numbers; the oldest one is killed.
func addReplica(_ context.Context, s *session) (end func() error, err error) {
	if err := s.startReplica(); err != nil {
		return nil, err
	}
	return func() error {
		oldest := s.replicas[0]
		s.replicas = s.replicas[1:]
		s.tell(oldest.source(theProgram), "is killed, and not started again")
		oldest.close((*process.Program).Destroy)
		return nil
	}, nil
}
