// How a program is sent to the proxy: by a kubeconfig that differs from its own in the server's address and CA only.

package faultproxy

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig copies the current context of the kubeconfig at original to path, with the proxy as its cluster. The copy is
// readable by this user only.
func (p *Proxy) Kubeconfig(original, path string) error {
	config, err := clientcmd.LoadFromFile(original)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", original, err)
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", original, err)
	}
	for name, user := range config.AuthInfos {
		if user.ClientCertificate != "" || len(user.ClientCertificateData) > 0 {
			return fmt.Errorf("kubeconfig %s: user %q shows a client certificate, which can't pass through a proxy; use a token, as of a ServiceAccount", original, name)
		}
	}
	for name := range config.Clusters {
		config.Clusters[name] = &clientcmdapi.Cluster{Server: p.Address(), CertificateAuthorityData: p.ca}
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}
