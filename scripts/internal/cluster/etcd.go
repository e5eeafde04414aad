package cluster

import (
	"path/filepath"
	"strconv"

	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/problem"
)

// Etcd returns a config for connections to the cluster's etcd, with the API server's certificate.
func (c *Cluster) Etcd() (*rest.Config, error) {
	components, err := c.components()
	if err != nil {
		return nil, err
	}
	pki := func(file string) string { return filepath.Join(c.kwok(), "pki", file) }
	for _, component := range components {
		if ports := component.Ports; component.Name == "etcd" && len(ports) > 0 {
			return &rest.Config{
				Host: "https://127.0.0.1:" + strconv.Itoa(ports[len(ports)-1].Port), // the first is for other etcds
				TLSClientConfig: rest.TLSClientConfig{
					CAFile: pki("ca.crt"), CertFile: pki("admin.crt"), KeyFile: pki("admin.key"),
				},
			}, nil
		}
	}
	return nil, problem.New("kwokctl's record of cluster %q has no etcd", c.name).
		ToDo(`"./scripts/workshop down --purge" and "./scripts/workshop up" create the cluster again`)
}
