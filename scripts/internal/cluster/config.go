package cluster

// What a cluster consists of: the components with their flags, the files that they read, and the
// ports. All paths are relative to the cluster's folder, where the components run, so any folder
// will do.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"example.com/operators/scripts/internal/process"
)

// AuditPolicy is the API server's audit.k8s.io/v1 Policy, in YAML.
//
//go:embed audit-policy.yaml
var AuditPolicy []byte

type component struct {
	name string
	port int // on loopback
	args []string
}

// The files in a cluster's folder. One certificate, which is its own CA, serves everybody: the
// servers, and the administrator, whom the components act as.
const (
	caFile   = "pki/admin.crt"
	certFile = caFile
	keyFile  = "pki/admin.key"
	portFile = "port"
)

// A cluster's ports are consecutive, from the one in portFile on.
const (
	etcdPort = iota
	etcdPeerPort
	apiServerPort
	controllerManagerPort
	schedulerPort
	kwokPort
	portsPerCluster
)

// components returns the components in the order in which they start.
func (c *Cluster) components() ([]component, error) {
	first, err := c.firstPort()
	if err != nil {
		return nil, err
	}
	etcd, peer := httpsURL(first+etcdPort), httpsURL(first+etcdPeerPort)
	apiServer, manager := first+apiServerPort, first+controllerManagerPort
	scheduler, kwok := first+schedulerPort, first+kwokPort
	return []component{
		{"etcd", first + etcdPort, []string{
			"--name=node0",
			"--data-dir=etcd",
			"--auto-compaction-retention=1",
			"--quota-backend-bytes=8589934592",
			// Every user of this machine can connect to loopback, and etcd has no password. So it
			// asks for a certificate, as the API server does.
			"--listen-client-urls=" + etcd,
			"--advertise-client-urls=" + etcd,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=node0=" + peer,
			"--client-cert-auth", "--trusted-ca-file=" + caFile, "--cert-file=" + certFile, "--key-file=" + keyFile,
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + caFile,
			"--peer-cert-file=" + certFile, "--peer-key-file=" + keyFile,
		}},
		{"kube-apiserver", apiServer, []string{
			"--bind-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(apiServer),
			"--etcd-servers=" + etcd,
			"--etcd-cafile=" + caFile, "--etcd-certfile=" + certFile, "--etcd-keyfile=" + keyFile,
			"--tls-cert-file=" + certFile, "--tls-private-key-file=" + keyFile,
			"--client-ca-file=" + caFile,
			"--service-account-key-file=" + keyFile, "--service-account-signing-key-file=" + keyFile,
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--authorization-mode=Node,RBAC",
			"--allow-privileged",
			// By default it looks for this machine's address in a network, and doesn't start where
			// there is none. Only Pods would go there, by the Service "kubernetes", and ours don't
			// run: so it is one of those that are for examples.
			"--advertise-address=192.0.2.1",
			// An owner reference that blocks deletion needs the right to update the owner's
			// finalizers, as on OpenShift.
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			// So large that the log is never renamed. It would be kept anyway.
			"--audit-policy-file=audit-policy.yaml", "--audit-log-path=logs/audit.log", "--audit-log-maxsize=100000",
		}},
		{"kube-controller-manager", manager, append(controllerFlags(manager),
			"--service-account-private-key-file="+keyFile, "--root-ca-file="+caFile)},
		{"kube-scheduler", scheduler, controllerFlags(scheduler)},
		{"kwok-controller", kwok, []string{
			"--manage-all-nodes",
			"--kubeconfig=kubeconfig",
			"--config=stages.yaml",
			"--node-lease-duration-seconds=0", // with leases, an ended kwok would hold its nodes for minutes
			"--node-ip=127.0.0.1", "--node-name=localhost", "--node-port=" + strconv.Itoa(kwok),
			"--server-address=127.0.0.1:" + strconv.Itoa(kwok),
			"--tls-cert-file=" + certFile, "--tls-private-key-file=" + keyFile,
		}},
	}, nil
}

// controllerFlags are those of the controller manager and the scheduler. Pods of simulated nodes
// start at once, and the controllers that make them shouldn't be slower. There is one of each, so
// none waits for a lease: one that was killed would hold it for 15 s more.
func controllerFlags(port int) []string {
	return []string{
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--kubeconfig=kubeconfig", "--authentication-kubeconfig=kubeconfig", "--authorization-kubeconfig=kubeconfig",
		"--leader-elect=false",
		"--kube-api-qps=1000", "--kube-api-burst=2000",
	}
}

// firstPort is the first of the cluster's ports. The cluster keeps them, so that its kubeconfig stays
// valid.
func (c *Cluster) firstPort() (int, error) {
	content, err := os.ReadFile(filepath.Join(c.dir, portFile))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(content))
}

func httpsURL(port int) string { return "https://127.0.0.1:" + strconv.Itoa(port) }

// writeFiles writes what the components of a new cluster read, and the administrator's kubeconfig.
func (c *Cluster) writeFiles() error {
	for _, dir := range []string{"pki", "logs"} {
		if err := os.MkdirAll(filepath.Join(c.dir, dir), 0o700); err != nil {
			return err
		}
	}
	first, err := process.OfClusters.Free(portsPerCluster)
	if err != nil {
		return err
	}
	stages, err := c.command("stages").Output()
	if err != nil {
		return fmt.Errorf("the stages of simulated nodes and Pods: %w", err)
	}
	certificate, key, err := newCertificate()
	if err != nil {
		return err
	}
	kubeconfig := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			c.name: {Server: httpsURL(first + apiServerPort), CertificateAuthorityData: certificate},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			c.name: {ClientCertificateData: certificate, ClientKeyData: key},
		},
		Contexts:       map[string]*clientcmdapi.Context{c.name: {Cluster: c.name, AuthInfo: c.name}},
		CurrentContext: c.name,
	}
	return errors.Join(
		os.WriteFile(filepath.Join(c.dir, "stages.yaml"), stages, 0o600),
		os.WriteFile(filepath.Join(c.dir, portFile), []byte(strconv.Itoa(first)), 0o600),
		os.WriteFile(filepath.Join(c.dir, "audit-policy.yaml"), AuditPolicy, 0o600),
		os.WriteFile(filepath.Join(c.dir, certFile), certificate, 0o600),
		os.WriteFile(filepath.Join(c.dir, keyFile), key, 0o600),
		clientcmd.WriteToFile(kubeconfig, c.Kubeconfig()),
	)
}

// newCertificate returns the cluster's certificate and its key, as PEM.
func newCertificate() (certificate, privateKey []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "workshop-admin", Organization: []string{"system:masters"}},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:    time.Now(),
		NotAfter:     time.Now().AddDate(10, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	privateKey, err = keyutil.MarshalPrivateKeyToPEM(key)
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der}), privateKey, err
}
