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

	"example.com/operators/07-tdset-operator/test/utils"
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
	kubectl(t, "create", "clusterrolebinding", "reader", "--clusterrole=tdset-operator-metrics-reader", "--serviceaccount="+operator+":reader")
	t.Cleanup(func() {
		kubectl(t, "delete", "-n", operator, "serviceaccount/reader", "clusterrolebinding/reader")
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"https://"+forward(t, "service/tdset-operator-controller-manager-metrics-service", 8443)+"/metrics", nil)
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

func TestTheWebhook(t *testing.T) { webhookAnswers(t) }

// If the Secret is deleted, cert-manager makes another certificate, as it does before one expires.
// The manager serves the new one without a restart.
func TestTheWebhookWithANewCertificate(t *testing.T) {
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
			connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: "tdset-operator-webhook-service.tdset-operator-system.svc"})
			if err == nil {
				connection.Close()
			}
			return err == nil
		})
	}
	webhookAnswers(t)
}

// webhookAnswers makes the API server call the webhook, and, for v1, the conversion. A dry run
// calls them, and stores nothing. A refusal shows that the CRD's rules are installed, too, because
// they refuse the same schedules first.
func webhookAnswers(t *testing.T) {
	t.Helper()
	for sentence, test := range map[string]struct {
		schedule string
		refused  bool
		want     string // in kubectl's output
	}{
		"time in no window causes a warning": {`[{name: office, start: "09:00", end: "17:00", replicas: 2}]`, false, "Warning: spec.windows: no window includes the time from 00:00 to 09:00, 17:00 to 24:00, so it gets defaultReplicas, which is 1"},
		"an empty window is refused":         {`[{name: office, start: "09:00", end: "09:00", replicas: 2}]`, true, "start and end must differ: for the whole day, use 00:00 and 24:00"},
		"missing fields get their defaults":  {"[]", false, "timeZone: UTC\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			eventually(t, fmt.Sprintf("refused: %t, and kubectl prints %q", test.refused, test.want), func() bool { // kube-proxy may be behind
				output, err := tryApply("default", "web", test.schedule, "--dry-run=server", "-o", "yaml")
				return (err != nil) == test.refused && strings.Contains(output, test.want)
			})
		})
	}
	const old = "apiVersion: schedule.rs/v1\nkind: TDSet\nmetadata: {name: old}\nspec: {container: {image: nginx, port: 80}, schedulingConfig: [{startTime: 9, endTime: 17, replica: 2}]}\n"
	output, err := utils.RunWith(old, "kubectl", "create", "--dry-run=server", "-o", "yaml", "-f", "-")
	if err != nil || !strings.Contains(output, "startTime: 9\n") {
		t.Errorf("a TDSet of v1 has become\n%s\nerror %v", output, err)
	}
}

// trusted returns the PEM of the CA that the API server trusts for the webhook.
func trusted(t *testing.T) string {
	t.Helper()
	encoded := kubectl(t, "get", "validatingwebhookconfiguration", "tdset-operator-validating-webhook-configuration", "-o", "jsonpath={.webhooks[0].clientConfig.caBundle}")
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(decoded)
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
