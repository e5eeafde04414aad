//go:build e2e

package e2e

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// namespace is the operator's, by the name that the CLI's specs use.
//
//lint:ignore U1000 only the specs that the CLI adds use it
const namespace = operator

// TestE2E runs the Ginkgo specs, which the kubebuilder CLI adds to. TestMain has deployed the
// operator.
func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(2 * time.Minute)
	RunSpecs(t, "e2e suite")
}

var _ = Describe("Manager", Ordered, func() {
	It("should run", func() {
		// +kubebuilder:scaffold:e2e-metrics-webhooks-readiness
		Expect(untilReady()).To(Succeed())
	})

	// +kubebuilder:scaffold:e2e-webhooks-checks
})

// A client with the role for it reads the metrics through their Service.
func TestTheMetrics(t *testing.T) {
	kubectl(t, "create", "serviceaccount", "-n", operator, "reader")
	kubectl(t, "create", "clusterrolebinding", "reader", "--clusterrole=foo-operator-metrics-reader", "--serviceaccount="+operator+":reader")
	t.Cleanup(func() {
		kubectl(t, "delete", "-n", operator, "serviceaccount/reader", "clusterrolebinding/reader")
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"https://"+forward(t, "service/foo-operator-controller-manager-metrics-service", 8443)+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(kubectl(t, "create", "token", "-n", operator, "reader")))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // the manager's own certificate

	response, err := client.Do(request)

	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	// Any replica may answer, and only the leader has a queue.
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), "\nrest_client_requests_total{") {
		t.Errorf("got %s\n%s\nerror %v, want controller-runtime's metrics", response.Status, body, err)
	}
}

func TestTheWebhooks(t *testing.T) {
	webhooksAnswer(t, aNamespace(t))
}

// If the Secret is deleted, cert-manager makes another certificate, as it does before one expires.
// The manager serves the new one without a restart.
func TestTheWebhooksWithANewCertificate(t *testing.T) {
	former := trusted(t)

	kubectl(t, "delete", "secret", "-n", operator, "webhook-server-cert")

	eventually(t, "the API server trusts another CA", func() bool { return trusted(t) != former && trusted(t) != "" })
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(trusted(t)))
	// Ask each replica, because the API server may call any of them. Each serves the new certificate
	// once the kubelet has copied it.
	for _, pod := range pods(t) {
		address := forward(t, "pod/"+pod, 9443)
		eventually(t, pod+" serves the new certificate", func() bool {
			connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: "foo-operator-webhook-service.foo-operator-system.svc"})
			if err == nil {
				connection.Close()
			}
			return err == nil
		})
	}
	webhooksAnswer(t, aNamespace(t))
}

// webhooksAnswer makes the API server call the webhooks in every way. A dry run calls them, and
// stores nothing.
func webhooksAnswer(t *testing.T, namespace string) {
	t.Helper()
	if output, err := tryApply(namespace, "there", "replicas: 1"); err != nil {
		t.Fatal(output)
	}
	kubectl(t, "create", "-n", namespace, "deployment", "taken", "--image="+standIn)
	for sentence, test := range map[string]struct {
		spec    string
		refused bool
		want    string // in kubectl's output
	}{
		"a missing deploymentName is the Foo's name": {"replicas: 1", false, "deploymentName: foo\n"},
		"another Foo's deploymentName is refused":    {"deploymentName: there", true, `Foo "there" asks for it already: choose another name, or delete that Foo`},
		"an existing Deployment causes a warning":    {"deploymentName: taken", false, `Warning: Deployment "taken" exists and isn't this Foo's`},
	} {
		t.Run(sentence, func(t *testing.T) {
			eventually(t, fmt.Sprintf("refused: %t, and kubectl prints %q", test.refused, test.want), func() bool { // kube-proxy may be behind
				output, err := tryApply(namespace, "foo", test.spec, "--dry-run=server", "-o", "yaml")
				return (err != nil) == test.refused && strings.Contains(output, test.want)
			})
		})
	}
}

// trusted returns the PEM of the CA that the API server trusts for the webhooks, or "" if it isn't
// the same for all of them.
func trusted(t *testing.T) (pem string) {
	t.Helper()
	for i, kind := range []string{"mutating", "validating"} {
		encoded := kubectl(t, "get", kind+"webhookconfiguration", "foo-operator-"+kind+"-webhook-configuration", "-o", "jsonpath={.webhooks[0].clientConfig.caBundle}")
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && pem != string(decoded) {
			return ""
		}
		pem = string(decoded)
	}
	return pem
}

// forward forwards a port of this machine to the operator until the test ends, and returns its
// address.
func forward(t *testing.T, to string, port int) (address string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "kubectl", "port-forward", "-n", operator, to, fmt.Sprintf(":%d", port))
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() }) // it has been killed by then
	line, _ := bufio.NewReader(output).ReadString('\n')
	if _, err := fmt.Sscanf(line, "Forwarding from %s -> ", &address); err != nil {
		t.Fatalf("kubectl port-forward printed %q (%v)", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, output) }()
	return address
}
