package judge

// A replica of the operator: a process that is started again when it exits, as a Pod's container is.

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
)

type running struct {
	*operator.Replica
	endpoints Endpoints // with this replica's ports
}

// start starts a replica, with more arguments than the usual ones.
func (s *scenario) start(more ...string) *running {
	return s.startBehind(func(*faultproxy.Proxy) {}, more...)
}

// startBehind starts a replica when do has prepared its proxy.
func (s *scenario) startBehind(do func(*faultproxy.Proxy), more ...string) *running {
	kubeconfig := filepath.Join(s.TempDir(), "kubeconfig")
	replica, err := operator.Behind(s.target, s.kubeconfig, kubeconfig)
	s.must(err)
	s.Cleanup(replica.Proxy.Close)
	replica.Proxy.Follow(func(audit.Request) { s.history.happened() })
	do(replica.Proxy)
	r := &running{Replica: replica}
	values := map[string]string{"{kubeconfig}": kubeconfig, "{namespace}": s.namespace, "{metrics}": s.freePort(), "{probes}": s.freePort()}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, name, value)
	}
	replace := strings.NewReplacer(pairs...).Replace
	r.endpoints = Endpoints{Metrics: replace(s.config.Endpoints.Metrics), Healthz: replace(s.config.Endpoints.Healthz), Readyz: replace(s.config.Endpoints.Readyz)}
	var args []string
	for _, arg := range append(s.command[1:len(s.command):len(s.command)], more...) {
		args = append(args, replace(arg))
	}
	s.step("start %s %s", filepath.Base(s.command[0]), strings.Join(args, " "))
	s.must(r.Start(process.Options{Binary: s.command[0], Args: args, Env: process.Pings}))
	s.replicas = append(s.replicas, r)
	return r
}

// exits are how often the replica has exited unasked.
func (r *running) exits() (evidence []Evidence) {
	for _, exit := range r.Exits() {
		evidence = append(evidence, Evidence{At: exit.At, Text: fmt.Sprintf("the operator exits: %v", exit.Why), Detail: exit.Log})
	}
	return evidence
}

// freePort returns a port of the loopback interface that nobody uses now.
func (s *scenario) freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	s.must(err)
	return port
}
