package cluster

// The files that kwokctl and the cluster's users read.

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

//go:embed kwokctl.yaml
var kwokctlConfig string

// AuditPolicy is what of each request the API server logs: YAML, an audit.k8s.io/v1 Policy.
//
//go:embed audit-policy.yaml
var AuditPolicy []byte

// writeConfig writes what `kwokctl create cluster` reads, and returns the paths of its configuration and audit policy.
func (c *Cluster) writeConfig() (config, policy string, err error) {
	ports, err := freePorts(c.dir)
	if err != nil {
		return "", "", err
	}
	data := os.Expand(kwokctlConfig, func(option string) string { return strconv.Itoa(ports[option]) })
	config = filepath.Join(c.dir, "kwokctl.yaml")
	policy = filepath.Join(c.dir, "audit-policy.yaml")
	return config, policy, errors.Join(os.WriteFile(config, []byte(data), 0o600), os.WriteFile(policy, AuditPolicy, 0o600))
}

// component is what kwokctl recorded about a program of the cluster.
type component struct {
	Name  string `json:"name"`
	Ports []struct {
		Port int `json:"port"`
	} `json:"ports"`
}

func (c *Cluster) components() ([]component, error) {
	f, err := os.Open(filepath.Join(c.kwok(), "kwok.yaml"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var record struct {
		Components []component `json:"components"`
	}
	// The file holds several documents; the cluster is the first.
	if err := yaml.NewYAMLOrJSONDecoder(f, 4096).Decode(&record); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return record.Components, nil
}

// ensureKubeconfig makes the user's kubeconfig of kwokctl's: named after the cluster, with certificates inside.
func (c *Cluster) ensureKubeconfig() error {
	if _, err := os.Stat(c.Kubeconfig()); err == nil {
		return nil // others may be reading it
	}
	made, err := clientcmd.LoadFromFile(filepath.Join(c.kwok(), "kubeconfig.yaml"))
	if err != nil {
		return err
	}
	if err := clientcmdapi.FlattenConfig(made); err != nil {
		return err
	}
	context := made.Contexts[made.CurrentContext]
	if context == nil {
		return fmt.Errorf("kwokctl's kubeconfig for cluster %q has no current context", c.name)
	}
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{c.name: made.Clusters[context.Cluster]},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{c.name: made.AuthInfos[context.AuthInfo]},
		Contexts:       map[string]*clientcmdapi.Context{c.name: {Cluster: c.name, AuthInfo: c.name}},
		CurrentContext: c.name,
	}, c.Kubeconfig())
}
