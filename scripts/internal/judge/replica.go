package judge

// A replica of the operator: a process that is started again when it exits, as a Pod's container is.

import (
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/process"
)

// panics matches the output of Go's runtime for a panic, of libraries that recover from one, and of
// the race detector.
var panics = regexp.MustCompile(`(?m)^(panic|fatal error): .*|^WARNING: DATA RACE|.*(Observed a panic|panic: .*\[recovered\]).*`)

type replica struct {
	*process.Program
	proxy     *faultproxy.Proxy
	log       *output.Buffer
	endpoints Endpoints // with this replica's ports

	mutex   sync.Mutex
	crashes []Evidence
	stopped bool
}

// start starts a replica, with more arguments than the usual ones.
func (b *Bench) start(more ...string) *replica {
	return b.startBehind(func(*faultproxy.Proxy) {}, more...)
}

// startBehind starts a replica when do has prepared its proxy.
func (b *Bench) startBehind(do func(*faultproxy.Proxy), more ...string) *replica {
	proxy, err := faultproxy.Start(b.target)
	b.must(err)
	b.Cleanup(proxy.Close)
	proxy.KeepWrites()
	proxy.Follow(func(audit.Request) { b.history.happened() })
	do(proxy)
	kubeconfig := filepath.Join(b.TempDir(), "kubeconfig")
	b.must(proxy.Kubeconfig(b.kubeconfig, kubeconfig))

	r := &replica{proxy: proxy, log: &output.Buffer{}}
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
	r.Program, err = process.Supervise(process.Options{
		Binary: b.command[0], Args: args, Output: r.log, OwnGroup: true,
		// client-go notices a frozen connection after these times; the default is 45 seconds.
		Env: append([]string{"KUBECONFIG=" + kubeconfig, "HTTP2_READ_IDLE_TIMEOUT_SECONDS=2", "HTTP2_PING_TIMEOUT_SECONDS=2"}, b.env...),
		Exited: func(why error, _ bool) {
			r.mutex.Lock()
			defer r.mutex.Unlock()
			r.crashes = append(r.crashes, Evidence{At: time.Now(), Text: fmt.Sprintf("the operator exits: %v", why), Detail: tail(r.log.String(), 10)})
		},
	})
	b.must(err)
	b.replicas = append(b.replicas, r)
	return r
}

// stop ends the replica like a Pod. It may be called twice.
func (r *replica) stop() {
	r.mutex.Lock()
	stopped := r.stopped
	r.stopped = true
	r.mutex.Unlock()
	if !stopped {
		r.Stop()
	}
}

// destroy kills the replica for good.
func (r *replica) destroy() {
	r.mutex.Lock()
	r.stopped = true
	r.mutex.Unlock()
	r.Destroy()
}

// exits are how often the replica has exited unasked.
func (r *replica) exits() []Evidence {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.crashes
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
