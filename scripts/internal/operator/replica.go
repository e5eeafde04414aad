// Package operator runs an operator as a cluster does: with an account that has exactly its
// permissions (account.go, permissions.go), and as a Process that is started again when it exits. A
// Replica is such a process behind a fault proxy of its own: the judge and `workshop lens` run
// operators as replicas.
package operator

import (
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/scripts/internal/faultproxy"
)

// Replica is a replica of an operator, behind a proxy.
type Replica struct {
	*Process
	Proxy *faultproxy.Proxy
	// Kubeconfig is the path of its kubeconfig, whose server is the proxy.
	Kubeconfig string
}

// Behind returns a replica that isn't started yet, and its proxy before the API server target. direct
// is the operator's own kubeconfig, and kubeconfig the path of the new one. The caller must Close it.
func Behind(target *rest.Config, direct, kubeconfig string) (*Replica, error) {
	proxy, err := faultproxy.Start(target)
	if err != nil {
		return nil, err
	}
	if err := proxy.WriteKubeconfig(direct, kubeconfig); err != nil {
		proxy.Close()
		return nil, err
	}
	return &Replica{Proxy: proxy, Kubeconfig: kubeconfig}, nil
}

// Start starts the process, in a process group of its own. Its arguments name the kubeconfig, or
// leave that to the variable KUBECONFIG. With options.InPod, it finds the API server without either.
func (r *Replica) Start(options Options) error {
	options.Env = append(options.Env, "KUBECONFIG="+r.Kubeconfig)
	options.OwnGroup = true
	if options.InPod != "" {
		config, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig)
		if err == nil {
			err = inPod(&options, config, r.Kubeconfig+".pod")
		}
		if err != nil {
			return err
		}
	}
	started, err := StartProcess(options)
	if err == nil {
		r.Process = started
	}
	return err
}

// Close stops the process, if it runs, and then the proxy.
func (r *Replica) Close() {
	if r.Process != nil {
		r.Stop()
	}
	r.Proxy.Close()
	os.Remove(r.Kubeconfig)
	os.RemoveAll(r.Kubeconfig + ".pod")
}
