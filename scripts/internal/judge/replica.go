package judge

// A replica of the operator: a process that is started again when it exits, as a Pod's container is.

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/process"
)

type running struct {
	*process.Replica
	proxy     *faultproxy.Proxy
	endpoints Endpoints // with this replica's ports
}

// start starts a replica, with more arguments than the usual ones.
func (b *Bench) start(more ...string) *running {
	return b.startBehind(func(*faultproxy.Proxy) {}, more...)
}

// startBehind starts a replica when do has prepared its proxy.
func (b *Bench) startBehind(do func(*faultproxy.Proxy), more ...string) *running {
	kubeconfig := filepath.Join(b.TempDir(), "kubeconfig")
	proxy, err := faultproxy.Before(b.target, b.kubeconfig, kubeconfig)
	b.must(err)
	b.Cleanup(proxy.Close)
	proxy.KeepWrites()
	proxy.Follow(func(audit.Request) { b.history.happened() })
	do(proxy)

	r := &running{proxy: proxy}
	values := map[string]string{"{kubeconfig}": kubeconfig, "{namespace}": b.namespace, "{metrics}": b.freePort(), "{probes}": b.freePort()}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, name, value)
	}
	replace := strings.NewReplacer(pairs...).Replace
	r.endpoints = Endpoints{Metrics: replace(b.config.Endpoints.Metrics), Healthz: replace(b.config.Endpoints.Healthz), Readyz: replace(b.config.Endpoints.Readyz)}
	var args []string
	for _, arg := range append(b.command[1:len(b.command):len(b.command)], more...) {
		args = append(args, replace(arg))
	}
	b.step("start %s %s", filepath.Base(b.command[0]), strings.Join(args, " "))
	r.Replica, err = process.StartReplica(process.Options{
		Binary: b.command[0], Args: args, OwnGroup: true,
		Env: slices.Concat([]string{"KUBECONFIG=" + kubeconfig}, process.Pings),
	})
	b.must(err)
	b.replicas = append(b.replicas, r)
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
func (b *Bench) freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	b.must(err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	b.must(err)
	return port
}
