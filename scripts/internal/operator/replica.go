// Package operator runs an operator as a cluster does: with an account that has exactly its
// permissions (account.go, permissions.go), and as a process that is started again when it exits.
// The process talks to the API server through a fault proxy of its own. The judge, `workshop faults`
// and `workshop lens` run operators with it.
package operator

import (
	"os"

	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/process"
)

// Replica is a replica of an operator.
type Replica struct {
	*process.Replica
	Proxy *faultproxy.Proxy
	// Kubeconfig is the path of its kubeconfig, whose server is the proxy.
	Kubeconfig string
}

// Behind returns a replica that isn't started yet, and its proxy before the API server target. direct
// is the operator's own kubeconfig, and kubeconfig the path of the new one. The caller must Close it.
func Behind(target *rest.Config, direct, kubeconfig string) (*Replica, error) {
	proxy, err := faultproxy.Before(target, direct, kubeconfig)
	if err != nil {
		return nil, err
	}
	return &Replica{Proxy: proxy, Kubeconfig: kubeconfig}, nil
}

// Start starts the process, in a process group of its own. Its arguments name the kubeconfig, or
// leave that to the variable KUBECONFIG.
func (r *Replica) Start(options process.Options) error {
	options.Env = append(options.Env, "KUBECONFIG="+r.Kubeconfig)
	options.OwnGroup = true
	started, err := process.StartReplica(options)
	if err == nil {
		r.Replica = started
	}
	return err
}

// Close stops the process, if it runs, and then the proxy.
func (r *Replica) Close() {
	if r.Replica != nil {
		r.Stop()
	}
	r.Proxy.Close()
	os.Remove(r.Kubeconfig)
}
