package cluster

import "path/filepath"

// EtcdctlEnvironment is the environment with which etcdctl reads the etcd of this cluster, which is up.
func (c *Cluster) EtcdctlEnvironment() []string {
	first, _ := c.firstPort()
	path := func(file string) string { return filepath.Join(c.dir, file) }
	return []string{
		"ETCDCTL_ENDPOINTS=" + httpsURL(first+etcdPort),
		"ETCDCTL_CACERT=" + path(caFile), "ETCDCTL_CERT=" + path(certFile), "ETCDCTL_KEY=" + path(keyFile),
	}
}
