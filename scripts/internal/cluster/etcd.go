package cluster

import (
	"path/filepath"

	"k8s.io/client-go/rest"
)

// Etcd returns a config for connections to the cluster's etcd, with the API server's certificate.
func (c *Cluster) Etcd() (*rest.Config, error) {
	p, err := c.ports()
	if err != nil {
		return nil, err
	}
	path := func(file string) string { return filepath.Join(c.dir, file) }
	return &rest.Config{
		Host:            httpsURL(p.Etcd),
		TLSClientConfig: rest.TLSClientConfig{CAFile: path(caFile), CertFile: path(certFile), KeyFile: path(keyFile)},
	}, nil
}
